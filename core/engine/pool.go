package engine

// LostWorker begins the warning about a worker that was lost.
const LostWorker = "a worker was lost and its task ran again: "
