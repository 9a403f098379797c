import { timePassed } from './life.ts'
import { MINUTE, SECOND, isVisible, type Model, type Pipe } from './model.ts'

/*
 * For how long the platform may hide a pipe that was shown once, while it allows creates. What it hides for longer is no
 * promise of ours (docs/explanation/guarantees.md); so stories do not go there.
 */

/** A pipe that is alone, or whose siblings cannot be read either. */
const HIDES_MS = 15 * MINUTE
/** A pipe beside another one that can be read. */
const HIDES_BESIDE_MS = 60 * SECOND

/** After any change: since when each pipe is not found, and what has to be shown again. @returns the pipes that are */
export function settleViews(model: Model): readonly Pipe[] {
  const shown: Pipe[] = []
  for (;;) {
    for (const pipe of model.pipes) if (isVisible(model, pipe)) model.shownNow.set(pipe.id, pipe.serviceId)
    for (const pipe of model.pipes) noteView(model, pipe)
    const due = model.pipes.find((pipe) => isDue(model, pipe, model.now))
    if (due === undefined) return shown
    due.view = 'seen'
    shown.push(due)
  }
}

/** Lets time pass, and shows what may not be hidden for so long. @returns the pipes that are shown */
export function passTime(model: Model, ms: number): readonly Pipe[] {
  const end = model.now + ms
  const shown = model.pipes.filter((pipe) => isDue(model, pipe, end))
  for (const pipe of shown) pipe.view = 'seen'
  settleViews(model)
  model.now = end
  timePassed(model, ms)
  model.shownNow.clear()
  return [...shown, ...settleViews(model)]
}

function noteView(model: Model, pipe: Pipe): void {
  if (isVisible(model, pipe)) {
    pipe.goneSince = undefined
    pipe.isBeside = false
    return
  }
  // What a gateway says is no 404, and ends no row of them.
  if (pipe.view !== 'unreadable' || !model.isPermitted) pipe.goneSince ??= model.now
  for (const [id, serviceId] of model.shownNow)
    if (id !== pipe.id && serviceId === pipe.serviceId) pipe.isBeside = true
}

function isDue(model: Model, { view, goneSince, isBeside }: Pipe, at: number): boolean {
  if (view !== 'hidden' || !model.isPermitted || goneSince === undefined) return false
  return at - goneSince >= (isBeside ? HIDES_BESIDE_MS : HIDES_MS)
}
