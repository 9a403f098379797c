import type { Removal } from './list.ts'

/** What protects a platform from two processes of which one acts. */
export const BY_STORIES_OF_PODS: readonly Removal[] = [
  {
    protection: 'the Lease is renewed before each request that changes something',
    world: 'pods',
    patches: { from: `return (await confirm?.()) ?? Infinity`, to: `return Infinity` },
  },
  {
    protection: 'a renewal that was begun before the intent was answered does not count',
    world: 'pods that differ',
    patches: [
      {
        from: `let current: Promise<number> | undefined`,
        to: `let last = clock.monotonic() + durationMs
    let current: Promise<number> | undefined`,
      },
      {
        from: `function confirm(): Promise<number> {
      if (current === undefined) return start()`,
        to: `function confirm(): Promise<number> {
      if (clock.monotonic() < last) return Promise.resolve(last)
      if (current === undefined) return start()`,
      },
      {
        from: `return begunAt + durationMs`,
        to: `last = begunAt + durationMs
          return last`,
      },
    ],
  },
  {
    protection: 'the first byte goes out while nobody can have taken over',
    world: 'pods',
    patches: { from: `return begunAt + durationMs`, to: `return Infinity` },
  },
  {
    protection: 'a renewal belongs to one takeover',
    world: 'pods',
    patches: {
      from: `if (!isOurs(lease)) {
          end(`,
      to: `if (lease === undefined) {
          end(`,
    },
  },
  {
    protection: 'an outcome is written whoever acts by now',
    world: 'pods',
    depth: 1,
    patches: [
      {
        from: `keepOn()
    term = {`,
        to: `keepOn()
    TERMS.set(options.api, confirm)
    term = {`,
        below: `export const TERMS = new WeakMap<object, () => Promise<number>>()`,
      },
      {
        from: `settle: (next, history) => report([next], () => settle(next, history)),`,
        to: `async settle(next, history) {
      await TERMS.get(api)?.().catch((error: unknown) => {
        throw new LedgerError('io', String(error))
      })
      return report([next], () => settle(next, history))
    },`,
        below: `import { TERMS } from '#TERMS'`,
      },
    ],
  },
  {
    protection: 'an outcome is written where its intent is by then',
    world: 'pods that differ',
    depth: 3,
    patches: { from: `((await ledger.withIntent(intentId)) ?? known)`, to: `known` },
  },
  {
    protection: 'who loses a write to a move reads where the record is by then',
    world: 'pods that differ',
    patches: { from: `await refresh(to, [...seen, key])`, to: `return` },
  },
  {
    protection: 'all records are read after the takeover, and not before it',
    world: 'pods that differ',
    patches: { from: `readAll().then(() => true)`, to: `Promise.resolve(true)` },
  },
  {
    protection: 'endpoints are applied once more after a takeover',
    world: 'pods and endpoint',
    patches: { from: `left: context.store.overtaken.get(key)`, to: `left: undefined` },
  },
  {
    protection: 'a process with an older checkout than the one that was acted on waits',
    world: 'pods that differ',
    patches: { from: `if (waiting === undefined) return`, to: `if (waiting !== null) return` },
  },
]
