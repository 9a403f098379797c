import { MINUTE, SECOND, type Model, type Pipe } from './model.ts'

/*
 * For how long the platform may hide a pipe that was shown once, while it allows creates. What it hides for longer is no
 * promise of ours (docs/guarantees.md); so stories do not go there.
 */

/** A pipe that is alone, or whose siblings cannot be read either. */
const HIDES_MS = 15 * MINUTE
/** A pipe beside another one that can be read. */
const HIDES_BESIDE_MS = 60 * SECOND

/** After any change: since when each pipe is not found, and what has to be shown again. @returns the pipes that are */
export function settleViews(model: Model): readonly Pipe[] {
  const shown: Pipe[] = []
  for (;;) {
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
  return [...shown, ...settleViews(model)]
}

function noteView(model: Model, pipe: Pipe): void {
  if (model.isPermitted && pipe.view === 'seen') {
    pipe.goneSince = undefined
    pipe.isBeside = false
    return
  }
  // What a gateway says is no 404, and ends no row of them.
  if (pipe.view !== 'unreadable' || !model.isPermitted) pipe.goneSince ??= model.now
  pipe.isBeside ||= model.pipes.some(
    (other) => other !== pipe && other.serviceId === pipe.serviceId && isShown(model, other),
  )
}

function isShown(model: Model, pipe: Pipe): boolean {
  return model.isPermitted && pipe.view === 'seen'
}

function isDue(model: Model, { view, goneSince, isBeside }: Pipe, at: number): boolean {
  if (view !== 'hidden' || !model.isPermitted || goneSince === undefined) return false
  return at - goneSince >= (isBeside ? HIDES_BESIDE_MS : HIDES_MS)
}
