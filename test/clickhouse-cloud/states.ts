import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { DATABASE_KINDS } from './facts.ts'
import { at } from './look.ts'
import { isDatabasePipe } from './rules.ts'

/*
 * The states of a pipe (section 6.1). A command or an edit says which are to come; readings, not time, go from one to the next.
 */

export type PipeState =
  | 'Provisioning'
  | 'Setup'
  | 'Snapshot'
  | 'Running'
  | 'Degraded'
  | 'Stopping'
  | 'Stopped'
  | 'Pausing'
  | 'Paused'
  | 'Modifying'
  | 'Resync'
  | 'Completed'
  | 'Failed'
  | 'InternalError'
  | 'Unknown'
  /** It answers 404; not a state of the facts. */
  | 'gone'

const AT_REST: readonly PipeState[] = ['Stopped', 'Paused']

/** On its way down: neither does it run, nor can it be started. */
const GOING_DOWN: readonly PipeState[] = ['Stopping', 'Pausing']

/** What a pipe comes to by itself: a copy that is made once is done in the end. */
export function goalOf(body: JsonObject): PipeState {
  const modes = DATABASE_KINDS.map((kind) => at(body, `source.${kind}.settings.replicationMode`))
  const files = at(body, 'source.objectStorage')
  const isOnce = modes.includes('snapshot') || (isObject(files) && files['isContinuous'] !== true)
  return isOnce ? 'Completed' : 'Running'
}

export function statesOfCreate(body: JsonObject): readonly PipeState[] {
  return [isDatabasePipe(body) ? 'Setup' : 'Provisioning', goalOf(body)]
}

/** What comes after a command, or why it is refused. The reply to it has the old state still. */
export function statesOfCommand(
  command: string,
  body: JsonObject,
  now: PipeState,
): readonly PipeState[] | string {
  const isDatabase = isDatabasePipe(body)
  if (command === 'resync')
    return isDatabase ? [now, 'Snapshot', 'Resync', goalOf(body)] : 'resync is not offered for this kind'
  if (command === 'stop') {
    // on a pipe at rest no error; of one that is done the facts say no more than "any", so it stays as it is
    if (AT_REST.includes(now) || now === 'Completed') return [now]
    return isDatabase ? [now, 'Pausing', 'Paused'] : [now, 'Stopping', 'Stopped']
  }
  if (AT_REST.includes(now) || now === 'Failed')
    return [now, isDatabase ? 'Setup' : 'Provisioning', goalOf(body)]
  if (GOING_DOWN.includes(now)) return `cannot be started from ${now}`
  return now === 'Completed' ? 'completed: nothing but resync' : 'already running'
}

/** An edit of its source makes a paused database pipe run again; the reply may show the state before that. */
export function statesOfEdit(
  body: JsonObject,
  { now, removes }: { readonly now: PipeState; readonly removes: boolean },
): readonly PipeState[] {
  return [now, ...(removes ? (['Modifying'] as const) : []), 'Snapshot', goalOf(body)]
}
