//! Pure writers: a run's record and its counters in, text or JSON out.
