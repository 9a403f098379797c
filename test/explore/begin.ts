import { SERVICE_ID, OTHER_SERVICE_ID } from '../support/manifests.ts'
import { BLANK_MEMORY, type Model, type Wish } from './model.ts'

/** A world in which nothing happens. */
export const NONE = {
  isSettled: false,
  waits: [],
  faults: [],
  edits: [],
  words: [],
  replies: [],
  crashes: false,
  standsStill: false,
  meanwhile: 0,
} as const

export function model(names: readonly string[], services: Readonly<Record<string, string>> = {}): Model {
  return {
    now: 0,
    given: new Set(),
    versions: 0,
    wishes: names.map((name): Wish => {
      const service = services[name] ?? 'one'
      const state = { isPresent: true, isSuspended: false, policy: {} }
      // Each asks for other topics, so that none is a copy of another.
      return {
        name,
        platformName: undefined,
        topics: name === 'a' ? 'first' : `of-${name}`,
        service,
        ...state,
      }
    }),
    endpoint: undefined,
    services: {
      one: SERVICE_ID,
      ...(Object.values(services).includes('two') ? { two: OTHER_SERVICE_ID } : {}),
    },
    isServiceFlawed: false,
    lock: {},
    isLockBroken: false,
    password: 'old',
    isPermitted: true,
    isIdle: false,
    pipes: [],
    isHit: false,
    shownNow: new Map(),
    ghosts: [],
    deleted: new Set(),
    askedAt: {},
    late: [],
    records: new Map(),
    copy: undefined,
    memory: BLANK_MEMORY,
    isDiskFull: false,
    isDiskGone: false,
    jumpedMs: 0,
    hasSecond: false,
    sent: new Map(),
    saidRetry: new Set(),
    saidPipe: new Set(),
    hands: new Set(),
    saidGone: new Set(),
    replacedAt: {},
  }
}
