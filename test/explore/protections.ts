import type { Patch } from '../slow/protections/checkout.ts'

/** One protection, how it is removed from a copy of the sources, and the world in which a story then breaks a law. */
export interface Removal {
  readonly protection: string
  readonly world: string
  readonly depth: number
  readonly patches: readonly Patch[]
}

export const REMOVALS: readonly Removal[] = [
  {
    protection: 'nothing without a record is created while a file of Locks cannot be read',
    world: 'copies',
    depth: 1,
    patches: [
      {
        from: `(file) => (!file.whole && isLockFile(file.file)) || file.documents.some(isBrokenLock),`,
        to: `(file) => isLockFile(file.file) && file.documents.some(isBrokenLock),`,
      },
    ],
  },
  {
    protection: 'a refused replacement gives the former id back (row 1)',
    world: 'missing',
    depth: 2,
    patches: [
      {
        from: 'return { ...record, remote, service, platformName, applied, former: undefined }',
        to: 'return { ...record, former: undefined }',
      },
    ],
  },
  {
    protection: 'the old pipe is asked for once more before the POST (row 1)',
    world: 'missing',
    depth: 2,
    patches: [
      {
        from: `    const asked = questionOf(context,`,
        to: `    const before = permit === undefined ? undefined : LAST.get(context)
    if (before !== undefined) return { failure: before, askedAt }
    const asked = questionOf(context,`,
      },
      {
        from: `    return { reply, askedAt }
  } catch (failure) {`,
        to: `    return { reply, askedAt }
  } catch (failure) {
    LAST.set(context, failure)`,
        below: `const LAST = new WeakMap<object, unknown>()`,
      },
    ],
  },
  {
    protection: 'a 404 is believed only beside a witness (row 5)',
    world: 'two',
    depth: 2,
    patches: [
      {
        from: `return isConfirmed(misses) && besideSince !== undefined && misses.lastAt - besideSince >= CONFIRMING_MS`,
        to: `return isConfirmed(misses) && (besideSince ?? 0) >= 0`,
      },
    ],
  },
  {
    protection: 'a pipe without siblings is missed for fifteen minutes, and not for one (row 1)',
    world: 'missing',
    depth: 2,
    patches: [
      {
        from: `return isConfirmed(misses, ALONE_MS)`,
        to: `return isConfirmed(misses, Math.min(ALONE_MS, CONFIRMING_MS))`,
      },
    ],
  },
  {
    protection: 'a row of 404s breaks when nobody looks for three minutes (row 1)',
    world: 'missing',
    depth: 2,
    patches: [
      {
        from: ` || now - misses.lastAt > GAP_MS)`,
        to: ` || now - misses.lastAt > GAP_MS * 1e6)`,
      },
    ],
  },
  {
    protection: 'a pipe that no reading ever found is never replaced (row 2)',
    world: 'missing',
    depth: 3,
    patches: [
      {
        from: `if (remote === undefined || remote.seenAt !== undefined || !isConfirmed(missingOf(input)?.misses))`,
        to: `if (recorded.version >= 0 || remote === undefined)`,
      },
    ],
  },
  {
    protection: 'one replacement an hour (row 2)',
    world: 'missing',
    depth: 3,
    patches: [
      {
        from: `if (from === undefined || from <= steadyNow) return undefined`,
        to: `if (from === undefined || from >= 0) return undefined`,
      },
    ],
  },
  {
    protection: 'a create is decided anew once it has its permit (row 3)',
    world: 'waiting',
    depth: 2,
    patches: [
      {
        from: `    return await reconcileOnce(reconciliation, permit)\n  } finally`,
        to: `    const decision = { action: round.action, outcome: NOTHING_TO_DO }
    return await conclude(context, round, await carryOut(context, assessment, decision, permit))\n  } finally`,
      },
    ],
  },
  {
    protection: 'an upsert is decided anew when it may go out, and before each attempt (row 4)',
    world: 'endpoint',
    depth: 2,
    patches: [
      {
        from: `      return JSON.stringify(upsertOf(asked).body)`,
        to: `      return JSON.stringify(upsertOf(first).body)`,
      },
      {
        from: `      if (!isSame || !sameAccess(upsertOf(asked).access, access)) throw new DecisionOutdated(key)\n`,
        to: `      if (isSame && !sameAccess(access, access)) throw new DecisionOutdated(key)\n`,
      },
    ],
  },
  {
    protection: 'policy.replaces excuses the key that it names, and no other (row 7)',
    world: 'renamings',
    depth: 3,
    patches: [
      {
        from: `return related.filter(({ key }) => key !== manifest.policy?.replaces)`,
        to: `return manifest.policy?.replaces === undefined ? related : []`,
      },
    ],
  },
  {
    protection: 'a retry at the shell waits until nothing can be on its way (row 8)',
    world: 'words',
    depth: 2,
    patches: [
      {
        from: `const tooEarly = stillOnItsWay(context, key, intent)`,
        to: `const tooEarly = force ? stillOnItsWay(context, key, intent) : undefined`,
      },
    ],
  },
  {
    protection: 'a retry waits longer when the process never said that its request ended (row 8)',
    world: 'words',
    depth: 2,
    patches: [
      {
        from: `return sendBy + (state === 'unknown' && seen?.proxy === undefined ? ENDED_MS : NEVER_ENDED_MS)`,
        to: `return sendBy + (state === 'unknown' && seen?.proxy === undefined ? ENDED_MS : Math.min(ENDED_MS, NEVER_ENDED_MS))`,
      },
    ],
  },
  {
    protection: 'policy.retryCreate that was read too early does not count (row 8)',
    world: 'words',
    depth: 2,
    patches: [
      {
        from: `const isEarly = isSaid && (intent.saidEarlyAt !== undefined || store.steadyNow() < retryFrom(intent))`,
        to: `const isEarly = isSaid && retryFrom(intent) < 0`,
      },
    ],
  },
  {
    protection: 'nothing is sent five seconds after its intent (row 8)',
    world: 'frozen',
    depth: 2,
    patches: [
      {
        from: `const notAfter = begunAt + SEND_WITHIN_MS`,
        to: `const notAfter = begunAt + Infinity`,
      },
    ],
  },
  {
    protection: 'the words of a person that a pipe is gone end when it is found (row 8)',
    world: 'said',
    depth: 3,
    patches: [
      {
        from: `  const refutedAt = saysDeleted(entry, remote.id) ? (remote.refutedAt ?? now) : undefined`,
        to: `  const refutedAt = saysDeleted(entry, remote.id) ? remote.refutedAt : undefined`,
      },
    ],
  },
  {
    protection: 'resolve --recreate ends when the pipe is found (row 8)',
    world: 'said',
    depth: 3,
    patches: [
      {
        from: `{ ...remote, seenAt, saidGoneAt: undefined, refutedAt }`,
        to: `{ ...remote, seenAt, refutedAt }`,
      },
    ],
  },
  {
    protection: 'an id that another key holds is not believed (row 10)',
    world: 'two',
    depth: 2,
    patches: [
      {
        from: `  if (holder !== undefined) return`,
        to: `  if (holder !== undefined && name === undefined) return`,
      },
    ],
  },
  {
    protection: 'an outcome that could not be written is kept, and written later (row 14)',
    world: 'ledger',
    depth: 2,
    patches: [
      {
        from: `      kept.set(key, outcome)\n      let record`,
        to: `      let record`,
      },
      {
        from: `    remember(key, outcome) {\n      kept.set(key, outcome)`,
        to: `    remember(key, outcome) {\n      kept.set(key, { ...outcome, history: [] })\n      kept.delete(key)`,
      },
    ],
  },
  {
    protection: 'an open intent lets no second create go out: the decision, and the fence behind it',
    world: 'one',
    depth: 1,
    patches: [
      {
        from: `const undecided = undecidedIntent(input.recorded)`,
        to: `const undecided = intent?.state === 'dismissed' ? intent : undefined`,
      },
      {
        from: `if (intent?.state === 'open' || intent?.state === 'unknown')`,
        to: `if (intent?.id === opening.intentId)`,
      },
    ],
  },
]
