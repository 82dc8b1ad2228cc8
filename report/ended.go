package report

// StoppedMessage is why a run ended that was stopped.
const StoppedMessage = "stopped before the end"
