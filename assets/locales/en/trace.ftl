# trace
