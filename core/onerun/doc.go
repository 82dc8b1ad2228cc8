// Package onerun audits a single run of a mechanism, with canaries that are in or out
// by fair coins, and counts right guesses (Steinke, Nasr and Jagielski 2023).
package onerun
