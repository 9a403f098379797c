import type { Place as ApiPlace } from '../../kubernetes/open-at.ts'
import { acts, passes, type Pod } from '../../kubernetes/pods.ts'
import type { Workspace } from '../../support/workspace.ts'
import { fastClocks } from './fast-clocks.ts'
import type { Trouble } from './pod-cells.ts'

/** An API that can be killed, where a trouble asks for that. */
export interface ApiOfCells extends ApiPlace {
  kill?(): Promise<void>
  again?(): Promise<void>
}

export interface Scene {
  readonly api: ApiOfCells
  /** It acts, and stands still. */
  readonly one: Pod
  /** It stands by. */
  readonly two: Pod
  readonly leaseMs: number
}

export const HAPPENS: Readonly<Record<Trouble, (scene: Scene) => Promise<void>>> = {
  async 'kill -9'({ one }) {
    await signal([one], 'SIGKILL')
  },
  'frozen for three leases': frozen,
  'cut off from the API': (scene) => parted(scene, 'toApi', 'cut'),
  'silence between it and the API': (scene) => parted(scene, 'toApi', 'silent'),
  'cut off from the platform': (scene) => parted(scene, 'toPlatform', 'cut'),
  'silence between it and the platform': (scene) => parted(scene, 'toPlatform', 'silent'),
  async 'the API server killed, and back'({ api, one, leaseMs }) {
    await api.kill?.()
    one.program.signal('SIGCONT')
    await passes(3 * leaseMs)
    await api.again?.()
  },
  async SIGTERM({ one }) {
    await signal([one], 'SIGTERM', 'SIGCONT')
  },
  async 'both killed, and started again'({ one, two }) {
    await signal([one, two], 'SIGKILL')
  },
  'frozen, its clock an hour ahead': frozen,
  'frozen, its clock an hour behind': frozen,
  'frozen, its clocks twice as fast': frozen,
  async 'frozen, the clocks of the other twice as fast'({ one, two }) {
    await acts(two)
    one.program.signal('SIGCONT')
  },
}

async function signal(pods: readonly Pod[], ...names: readonly NodeJS.Signals[]): Promise<void> {
  for (const pod of pods) for (const name of names) pod.program.signal(name)
  await Promise.all(pods.map(({ program }) => program.ended))
}

async function frozen({ one, two, leaseMs }: Scene): Promise<void> {
  await passes(3 * leaseMs)
  await acts(two)
  one.program.signal('SIGCONT')
}

async function parted(
  { one, two, leaseMs }: Scene,
  way: 'toApi' | 'toPlatform',
  mode: 'cut' | 'silent',
): Promise<void> {
  one[way].set(mode)
  one.program.signal('SIGCONT')
  await passes(3 * leaseMs)
  if (way === 'toApi') await acts(two)
  one[way].set('open')
}

const HOUR_MS = 3_600_000

/** Whose clocks are others, where they are. */
const CLOCKS: Partial<
  Readonly<Record<Trouble, { readonly who: 'one' | 'two'; readonly aheadMs: number; readonly speed: number }>>
> = {
  'frozen, its clock an hour ahead': { who: 'one', aheadMs: HOUR_MS, speed: 1 },
  'frozen, its clock an hour behind': { who: 'one', aheadMs: -HOUR_MS, speed: 1 },
  'frozen, its clocks twice as fast': { who: 'one', aheadMs: 0, speed: 2 },
  'frozen, the clocks of the other twice as fast': { who: 'two', aheadMs: 0, speed: 2 },
}

/** Variables of each start. */
export function clocksOf(
  trouble: Trouble,
  who: 'one' | 'two',
  workspace: Workspace,
): Readonly<Record<string, string>> {
  const clocks = CLOCKS[trouble]
  if (clocks?.who !== who) return {}
  workspace.write('clock', String(clocks.aheadMs))
  return { ...fastClocks(clocks.speed), CLOCK_SHIFT_FILE: workspace.path('clock') }
}
