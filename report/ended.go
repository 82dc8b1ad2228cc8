package report

const StoppedMessage = "stopped before the end"
