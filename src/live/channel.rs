//! The messages between front and supervisor, over a socket pair that keeps their borders.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use crate::live::plan::Verdict;
use crate::sys::fd;

/// One message. Front → supervisor: `Signal`. Supervisor → front: all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A signal came, from this sender (0 = the kernel).
    Signal {
        /// Which.
        signal: i32,
        /// Whose.
        sender: i32,
        /// When it was taken, ns.
        ns: u64,
        /// By `sigqueue`.
        queued: bool,
    },
    /// The target runs, with this pid and process group.
    Started(i32),
    /// The target could not be started: errno, and the index of the file that was tried last.
    NotStarted {
        /// The kernel's reason.
        errno: i32,
        /// Which of the plan's candidates.
        candidate: i32,
    },
    /// A signal stopped the target.
    Stopped(i32),
    /// Everything is done: end like this.
    Done(Verdict),
    /// The supervisor cannot go on, and has said why.
    Failed,
}

const SIZE: usize = 24;

impl Message {
    fn encode(self) -> [u8; SIZE] {
        let (tag, a, b, c, ns) = match self {
            Message::Signal { signal, sender, ns, queued } => (1, signal, sender, i32::from(queued), ns),
            Message::Started(pid) => (2, pid, 0, 0, 0),
            Message::NotStarted { errno, candidate } => (3, errno, candidate, 0, 0),
            Message::Stopped(signal) => (4, signal, 0, 0, 0),
            Message::Done(Verdict::Exit(code)) => (5, code, 0, 0, 0),
            Message::Done(Verdict::Die(signal)) => (6, signal, 0, 0, 0),
            Message::Failed => (7, 0, 0, 0, 0),
        };
        let mut bytes = [0; SIZE];
        // Both ends are one program on one machine: its own order of bytes.
        for (into, number) in bytes.chunks_exact_mut(4).zip([tag, a, b, c]) {
            into.copy_from_slice(&i32::to_ne_bytes(number));
        }
        bytes[16..].copy_from_slice(&ns.to_ne_bytes());
        bytes
    }

    fn decode(bytes: [u8; SIZE]) -> Option<Message> {
        let number = |at: usize| i32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (a, b) = (number(4), number(8));
        let ns = u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|n| bytes[16 + n]));
        Some(match number(0) {
            1 => Message::Signal { signal: a, sender: b, ns, queued: number(12) != 0 },
            2 => Message::Started(a),
            3 => Message::NotStarted { errno: a, candidate: b },
            4 => Message::Stopped(a),
            5 => Message::Done(Verdict::Exit(a)),
            6 => Message::Done(Verdict::Die(a)),
            7 => Message::Failed,
            _ => return None,
        })
    }
}

/// One end of the channel.
#[derive(Debug)]
pub struct Channel(OwnedFd);

impl Channel {
    /// Both ends of a new channel.
    ///
    /// # Errors
    /// No descriptors are left.
    pub fn pair() -> std::io::Result<(Channel, Channel)> {
        let (a, b) = fd::message_pair()?;
        Ok((Channel(a), Channel(b)))
    }

    /// Sends. A peer that is gone is seen by its pidfd, not here.
    pub fn send(&self, message: Message) {
        let _ = fd::send(self.0.as_fd(), &message.encode());
    }

    /// The next message that is waiting, if any.
    pub fn next(&self) -> Option<Message> {
        let mut bytes = [0; SIZE];
        let got = fd::receive(self.0.as_fd(), &mut bytes).ok()?;
        if got == SIZE { Message::decode(bytes) } else { None }
    }

    /// For waiting.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_arrives_as_it_was_sent() {
        let (a, b) = Channel::pair().unwrap();
        let all = [
            Message::Signal { signal: 15, sender: 77, ns: u64::MAX - 1, queued: false },
            Message::Signal { signal: 34, sender: 77, ns: 1 << 32 | 5, queued: true },
            Message::Started(9),
            Message::NotStarted { errno: 2, candidate: 3 },
            Message::Stopped(20),
            Message::Done(Verdict::Exit(3)),
            Message::Done(Verdict::Die(11)),
            Message::Failed,
        ];
        for message in all {
            a.send(message);
        }
        for message in all {
            assert_eq!(b.next(), Some(message));
        }
        assert_eq!(b.next(), None);
        drop(a);
        assert_eq!(b.next(), None);
    }
}
