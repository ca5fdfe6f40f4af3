"""Many callers, one corrector: queues, batches, caches and timing."""
