import type { Removal } from './list.ts'

/** Otherwise, the write of the outcome refuses the id too. */
const ANY_KEY_GETS_IT = { from: `if (holder === undefined) return end`, to: `if (holder !== '') return end` }

/** Of protections without which the explorer finds a story that breaks a law. */
export const BY_STORIES: readonly Removal[] = [
  {
    protection: 'nothing without a record is created while a file of Locks cannot be read',
    world: 'copies',
    depth: 1,
    patches: {
      from: `path.endsWith('/') || isLockFile(path)`,
      to: `path.endsWith('/')`,
    },
  },
  {
    protection: 'a refused replacement gives the former id back (row 1)',
    world: 'missing',
    patches: {
      from: 'return { ...record, remote, service, platformName, applied, former: undefined }',
      to: 'return { ...record, former: undefined }',
    },
  },
  {
    protection: 'the old pipe is asked for once more before the POST (row 1)',
    world: 'missing',
    patches: [
      {
        from: `    const asked = questionOf(context,`,
        to: `    const before = question.permit === undefined ? undefined : LAST.get(context)
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
    patches: {
      from: `return isConfirmed(misses) && besideSince !== undefined && misses.lastAt - besideSince >= CONFIRMING_MS`,
      to: `return isConfirmed(misses) && (besideSince ?? 0) >= 0`,
    },
  },
  {
    protection: 'a pipe without siblings is missed for fifteen minutes, and not for one (row 1)',
    world: 'missing',
    patches: {
      from: `return isConfirmed(misses, ALONE_MS)`,
      to: `return isConfirmed(misses, Math.min(ALONE_MS, CONFIRMING_MS))`,
    },
  },
  {
    protection: 'a row of 404s breaks when nobody looks for three minutes (row 1)',
    world: 'missing',
    patches: { from: ` || now - misses.lastAt > GAP_MS)`, to: ` || now - misses.lastAt > GAP_MS * 1e6)` },
  },
  {
    protection: 'a pipe that no reading ever found is never replaced (row 2)',
    world: 'missing',
    depth: 3,
    patches: {
      from: `if (remote === undefined || remote.seenAt !== undefined || !isConfirmed(missingOf(input)?.misses))`,
      to: `if (recorded.version >= 0 || remote === undefined)`,
    },
  },
  {
    protection: 'one replacement an hour (row 2)',
    world: 'missing',
    depth: 3,
    patches: {
      from: `if (from === undefined || from <= steadyNow) return undefined`,
      to: `if (from === undefined || from >= 0) return undefined`,
    },
  },
  {
    protection: 'a create is decided anew once it has its permit (row 3)',
    world: 'waiting',
    patches: {
      from: `    return await reconcileOnce(reconciliation, permit)\n  } finally`,
      to: `    const decision = { ...decided(assessment, request), action }
    return await conclude(reconciliation, assessment, action, await carryOut(reconciliation, assessment, decision, permit))\n  } finally`,
    },
  },
  {
    protection: 'an upsert is decided anew when it may go out, and before each attempt (row 4)',
    world: 'endpoint',
    patches: [
      {
        from: `      return JSON.stringify(upsertOf(asked).body)`,
        to: `      return JSON.stringify(upsertOf(first).body)`,
      },
      {
        from: `if (!isSame || !isOf(action, type)) throw`,
        to: `if (type !== 'upsert' && (!isSame || !isOf(action, type))) throw`,
      },
    ],
  },
  {
    protection: 'policy.replaces excuses the key that it names, and no other (row 7)',
    world: 'renamings',
    depth: 3,
    patches: {
      from: `return related.filter((record) => record.key !== manifest.policy?.replaces || isKept(record))`,
      to: `return manifest.policy?.replaces === undefined ? related : related.filter(isKept)`,
    },
  },
  {
    protection: 'a retry at the shell waits until nothing can be on its way (row 8)',
    world: 'words',
    patches: {
      from: `const tooEarly = stillOnItsWay(context, key, intent)`,
      to: `const tooEarly = force ? stillOnItsWay(context, key, intent) : undefined`,
    },
  },
  {
    protection: 'a retry waits longer when the process never said that its request ended (row 8)',
    world: 'words',
    patches: {
      from: `(isEnded ? ENDED_MS : NEVER_ENDED_MS)`,
      to: `(isEnded ? ENDED_MS : Math.min(ENDED_MS, NEVER_ENDED_MS))`,
    },
  },
  {
    protection: 'policy.retryCreate that was read too early does not count (row 8)',
    world: 'words',
    patches: {
      from: `const isEarly = isSaid && (intent.saidEarlyAt !== undefined || left > 0)`,
      to: `const isEarly = isSaid && left > Infinity`,
    },
  },
  {
    protection: 'nothing is sent five seconds after its intent (row 8)',
    world: 'frozen',
    patches: { from: `const notAfter = begunAt + SEND_WITHIN_MS`, to: `const notAfter = begunAt + Infinity` },
  },
  {
    protection: 'the words of a person that a pipe is gone end when it is found (row 8)',
    world: 'said',
    depth: 3,
    patches: {
      from: `  const refutedAt = saysDeleted(entry, remote.id) ? (remote.refutedAt ?? now) : undefined`,
      to: `  const refutedAt = saysDeleted(entry, remote.id) ? remote.refutedAt : undefined`,
    },
  },
  {
    protection: 'resolve --recreate ends when the pipe is found (row 8)',
    world: 'said',
    depth: 3,
    patches: {
      from: `{ ...remote, seenAt, saidGoneAt: undefined, refutedAt }`,
      to: `{ ...remote, seenAt, refutedAt }`,
    },
  },
  {
    protection: 'an id that another key holds is not believed (row 10)',
    world: 'two',
    patches: [
      {
        from: `  if (holder !== undefined) return`,
        to: `  if (holder !== undefined && name === undefined) return`,
      },
      ANY_KEY_GETS_IT,
    ],
  },
  {
    protection: 'the reply to a create is not believed if it brings an id of a pipe that another key holds',
    world: 'two',
    patches: [
      { from: `const holder = store.holderOf(id, expected.key) ??`, to: `const holder =` },
      ANY_KEY_GETS_IT,
    ],
  },
  {
    protection: 'an outcome that could not be written is kept, and written later (row 14)',
    world: 'ledger',
    patches: [
      { from: `      kept.set(key, outcome)\n      let record`, to: `      let record` },
      {
        from: `remember: (key, outcome) => void kept.set(key, outcome),`,
        to: `remember: () => undefined,`,
      },
    ],
  },
  {
    protection: 'an intent is written before the POST',
    world: 'one',
    depth: 1,
    patches: {
      from: `const written = await context.ledger.swap(opened, [started])`,
      to: `const written = opened ?? await context.ledger.swap(opened, [started])`,
    },
  },
  {
    protection: 'an open intent lets no second create go out: the decision alone',
    world: 'one',
    depth: 1,
    patches: { from: `const undecided = undecidedIntent(input.recorded)`, to: `const undecided = undefined` },
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
        to: `if (intent?.id === opening.intent.id)`,
      },
    ],
  },
  {
    protection: 'a list is looked at before a create, and what it shows is taken over',
    world: 'relisted',
    depth: 1,
    patches: {
      from: `lockUnreadable, ...BEFORE_CREATE]`,
      to: `lockUnreadable, ...BEFORE_CREATE.filter((gate) => gate !== listedFirst)]`,
    },
  },
  {
    protection: 'the list that a create depends on begins after the last attempt',
    world: 'warm',
    depth: 1,
    patches: [
      {
        from: `const since = Math.max(now - oldest, freshSince(store, key))`,
        to: `const since = now - oldest`,
      },
      { from: `if (readSince < store.lastWrites.endedAt({ key }))`, to: `if (readSince < -Infinity)` },
    ],
  },
  {
    protection: 'the list that a create depends on is a new one',
    world: 'listed',
    depth: 1,
    patches: {
      from: `permit === undefined ? Math.min(SHARED_MS, timing.intervalMs) : BEFORE_CREATE_MS + permit.lookCostsMs`,
      to: `permit === undefined ? Math.min(SHARED_MS, timing.intervalMs) : BEFORE_CREATE_MS * 100`,
    },
  },
  {
    protection:
      'a list from before a change says nothing of the pipe after it, and a GET confirms what it shows',
    world: 'correcting',
    depth: 1,
    patches: [
      {
        from: `const last = Math.max(lastWriteOf(store, key), store.observation(key)?.readAt ?? -Infinity)`,
        to: `const last = -Infinity`,
      },
      {
        from: `answer.reply.value)) return askPlatform(context, question)`,
        to: `answer.reply.value)) return { ...answer, isOfList: undefined }`,
      },
    ],
  },
  {
    protection: 'a listed pipe that an orphan’s record holds stops a create of its name',
    world: 'renamed',
    depth: 3,
    patches: {
      from: `if (orphan !== undefined) return listedOrphan(kind, { candidate, wanted, orphan })`,
      to: `if (orphan !== undefined) return undefined`,
    },
  },
  {
    protection: 'a listed pipe without a manifest stops a create of its source and destination',
    world: 'renamed',
    depth: 2,
    patches: {
      from: `const others = intent === undefined ? alikeUnderOtherNames(names) : []`,
      to: `const others = intent === null ? alikeUnderOtherNames(names) : []`,
    },
  },
  {
    protection: 'a rename with another edit is suspected',
    world: 'renamed',
    depth: 3,
    patches: {
      from: `if (similarity !== undefined) return unclaimed(similarity.from, candidate)`,
      to: `if (similarity !== undefined) return undefined`,
    },
  },
  {
    protection: 'what a list finds has the secrets with which it was created, whatever they are by now',
    world: 'rotating',
    patches: {
      from: `return undecidedIntent(recorded) === undefined ? asked : (applied ?? asked)`,
      to: `return undecidedIntent(recorded) === undefined ? asked : (asked ?? applied)`,
    },
  },
  {
    protection: 'a secret that is rotated while its change waits is decided anew',
    world: 'changing',
    patches: [
      { from: `    sameJson(now.facts.fields, fields) &&\n`, to: `` },
      {
        from: `sameJson(assessment.input.desired.fingerprint?.secrets, first.input.desired.fingerprint?.secrets)`,
        to: `first.input.desired.fingerprint !== undefined`,
      },
    ],
  },
  {
    protection: 'that a pipe is stopped for a change is written down before the stop',
    world: 'resting',
    patches: {
      from: `if (action.stopFor === 'change') return stopNoted(changing, recorded)`,
      to: `if (action.stopFor === 'change')
    return { ...recorded, command: { command: 'stop', at: changing.context.store.steadyNow(), isForChange: true } }`,
    },
  },
  {
    protection: 'what is sent is looked at again right before each request',
    world: 'changing',
    patches: [
      {
        from: `if (!isSame || !isOf(action, type)) throw`,
        to: `if (type !== 'update' && (!isSame || !isOf(action, type))) throw`,
      },
      {
        from: `const body = now.steps.find(({ way }) => way === step.way)?.body`,
        to: `const body = isSame ? now.steps.find(({ way }) => way === step.way)?.body : step.body`,
      },
      { from: `if (!isSame || body === undefined) throw`, to: `if (body === undefined) throw` },
    ],
  },
  {
    protection: 'tables are not added or removed a second time before anything was read',
    world: 'tables',
    patches: {
      from: `return way !== 'update' || !fields.some((field) => kind.changes?.needsRest(field) === true)`,
      to: `return way !== 'update' || fields.some((field) => kind.changes?.needsRest(field) === true)`,
    },
  },
  {
    protection: 'what was sent, and is not there, is nobody else’s change',
    world: 'tables',
    patches: {
      from: `others.filter((field) => isOurs(field) || isOfNew(`,
      to: `others.filter((field) => isOfNew(`,
    },
  },
  {
    protection: 'all that is asked for is sent, or nothing of it',
    world: 'changing',
    patches: {
      from: `if (impossible.length > 0) return replacedOr(update, impossible, 'no request')`,
      to: `if (impossible.length === fields.size) return reportUnsent(update, impossible, 'no request')`,
    },
  },
  {
    protection: 'what was decided before a change waited counts no more when it may go out',
    world: 'resting',
    depth: 1,
    patches: { from: `const action = decide(assessment.input)`, to: `const action = decide(first.input)` },
  },
  {
    protection: 'what was stopped by somebody else is not started again',
    world: 'resting',
    patches: {
      from: `const why = whyOf(policy.paused, isStoppedByUs(recorded))`,
      to: `const why = whyOf(policy.paused, true)`,
    },
  },
  {
    protection: 'a pipe that somebody else has stopped is not started by a change',
    world: 'paused',
    patches: {
      from: `if (isResting && !isMine && policy.paused === undefined && ways.includes('update'))`,
      to: `if (isResting && isMine && policy.paused === undefined && ways.length === 0)`,
    },
  },
  {
    protection: 'what was sent in vain is not sent again within an hour',
    world: 'changing',
    patches: {
      from: `change.digest === attemptDigest(desired.fingerprint) && steadyNow - change.at < CORRECTION_BACKOFF.firstMs`,
      to: `change.digest === attemptDigest(desired.fingerprint) && steadyNow - change.at < CORRECTION_BACKOFF.firstMs / 1e6`,
    },
  },
  {
    protection: 'what was refused after a stop is not tried again within an hour',
    world: 'resting',
    patches: {
      from: `if (digest !== attemptDigest(desired.fingerprint) || left <= 0) return undefined`,
      to: `if (digest !== attemptDigest(desired.fingerprint) || left <= CORRECTION_BACKOFF.firstMs) return undefined`,
    },
  },
  {
    protection:
      'what comes to rest for a change is started again, also when nothing is to be changed any more',
    world: 'resting',
    patches: {
      from: `command: isStillStopping ? command : undefined`,
      to: `command: isStillStopping ? undefined : undefined`,
    },
  },
  {
    protection:
      'what was stopped for a change is started again when its manifest is gone, or says to leave it alone',
    world: 'resting',
    patches: { from: `(startedFirst(input) ?? stop)`, to: `stop` },
  },
  {
    protection: 'a person who changes a pipe in the console is not corrected unless the manifest says so',
    world: 'correcting',
    patches: { from: `isOurs(field) || isOfNew(`, to: `others.length > 0 || isOfNew(` },
  },
  {
    protection: 'nothing is deleted within ten minutes after its manifest asked for it',
    world: 'removing',
    patches: { from: `const GRACE_MS = 10 * 60_000`, to: `export const GRACE_MS = 60_000` },
  },
  {
    protection: 'what somebody has changed is not deleted',
    world: 'removing',
    patches: {
      from: `const changed = observed.status === 'found' ? changedFields(input) : []`,
      to: `const changed = observed.status === 'found' && now < 0 ? changedFields(input) : []`,
    },
  },
  {
    protection: 'that something is about to be deleted is in the ledger before the request',
    world: 'removing',
    patches: [{ from: `removal: { ...removal, isSent: true, ...sent }`, to: `removal` }],
  },
  {
    protection: 'a deletion is decided anew right before its request',
    world: 'removing',
    patches: {
      from: `if (!isSame || !isOf(action, type)) throw`,
      to: `if (type !== 'delete' && (!isSame || !isOf(action, type))) throw`,
    },
  },
  {
    protection: 'the ten minutes begin anew after a manifest was taken back or removed',
    world: 'removing',
    patches: {
      from: `if (digest === undefined || isHeld(action)) return undefined`,
      to: `if (digest === undefined) return removal
  if (isHeld(action)) return undefined`,
    },
  },
]
