package engine

// paceFrom is the part of a stage that has to be done before its time left is told: what
// is done first, starts and small first steps, costs more than the rest.
const paceFrom = 0.2

// Pace tells how long a run still takes, by what its work that is done took. A unit of
// one stage costs more than one of another, so it counts the time of the stage that is
// on only. The zero value is ready.
type Pace struct {
	// Even: all units cost the same, and each may take an hour, so that the time left is told
	// as soon as one of them took some.
	Even bool

	stage  string
	begun  float64 // when the stage was first told of, by the caller's clock
	before int     // units that were done then
	on     bool
}

// Left is how many seconds the units that are not done take if each costs what those of
// this stage that are done did; false while a fifth of them is not done. Of work that
// comes in pieces (epochs, pairs), done should count whole pieces: what is under way
// has cost time, and is not done. now is in seconds.
func (p *Pace) Left(now float64, stage string, done, total int) (float64, bool) {
	if !p.on || stage != p.stage || done < p.before { // less is done when a worker was lost
		*p = Pace{Even: p.Even, stage: stage, begun: now, before: done, on: true}
	}
	of, all := done-p.before, total-p.before
	switch {
	case done >= total:
		return 0, true
	case of <= 0 || !p.Even && float64(of) < paceFrom*float64(all) || now <= p.begun:
		return 0, false
	}
	return (now - p.begun) * float64(total-done) / float64(of), true
}
