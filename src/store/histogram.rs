//! Classic histograms as families: the buckets of one label set together with their sum and count.
