//! A running wrap: front, supervisor, reader, ring, consumer.
