import {
  comesBackAtTheLastLook,
  goesTwice,
  neverFound,
  refusedReplacement,
  siblingUnreadable,
} from './belief-checks.ts'
import type { Mutation } from './mutation.ts'
import {
  badId,
  correctedBeforeTheRetry,
  correctedMeanwhile,
  noReply,
  retriedTooEarly,
  retriedTooEarlyInGit,
  stoodStill,
  suspendedMeanwhile,
} from './request-checks.ts'

/* What protects a create from its surroundings: what is believed, what waits, and what comes too late. */

export const AROUND_THE_CREATE: readonly Mutation[] = [
  {
    protection: 'the former id is kept until its successor is durable',
    patches: [
      {
        from: `  return { ...record, remote, service, platformName, applied, former: undefined }\n`,
        to: `  return { ...record, former: undefined }\n`,
      },
    ],
    checks: [refusedReplacement()],
  },
  {
    protection: 'the old pipe is asked for again, right before the POST',
    patches: [
      {
        from: `    return { reply, askedAt }\n  } catch (failure) {\n`,
        to: `    return { reply, askedAt }\n  } catch (failure) {\n    FIRST.set(key, { failure, askedAt })\n`,
      },
      {
        from: `    const asked = questionOf(context,`,
        to: `    if (question.permit !== undefined && FIRST.has(key)) return FIRST.get(key)\n    const asked = questionOf(context,`,
        below: `const FIRST = new Map()`,
      },
    ],
    checks: [comesBackAtTheLastLook()],
  },
  {
    protection: 'a 404 needs a witness',
    patches: [
      {
        from: ` && besideSince !== undefined && misses.lastAt - besideSince >= CONFIRMING_MS`,
        to: ``,
      },
    ],
    checks: [siblingUnreadable()],
  },
  {
    protection: 'a pipe that was never seen is held',
    patches: [
      {
        from: `[massMissing, adoptInstead, neverSeen, unbelieved, stillListed]`,
        to: `[massMissing, adoptInstead, unbelieved, stillListed]`,
      },
    ],
    checks: [neverFound()],
  },
  {
    protection: 'one replacement of a key an hour',
    patches: [
      {
        from: `...(isSaid || isOurs ? [] : [replacedRecently]),`,
        to: `...(isSaid ? [replacedRecently] : []),`,
      },
    ],
    checks: [goesTwice()],
  },
  {
    protection: 'a create is decided anew when it has its permit',
    patches: [
      {
        from: `return await reconcileOnce(reconciliation, permit)`,
        to: `return await conclude(reconciliation, round, await carryOut(reconciliation, assessment, { ...decided(context, assessment, request), action: round.action }, permit))`,
      },
    ],
    checks: [suspendedMeanwhile()],
  },
  {
    protection: 'an upsert is decided anew when it has its place',
    patches: [
      {
        from: `asked = assess(context, await gather(context, key, record, request, undefined, looks))`,
        to: `asked = first`,
      },
    ],
    checks: [correctedMeanwhile()],
  },
  {
    protection: 'an upsert is decided anew before each retry',
    patches: [
      {
        from: `    const body = await read.body(places)\n`,
        to: `    if (!MADE.has(read)) MADE.set(read, await read.body(places))\n    const body = MADE.get(read)\n`,
        below: `const MADE = new WeakMap()`,
      },
    ],
    checks: [correctedBeforeTheRetry()],
  },
  {
    protection: 'the socket of a create without a whole reply is reset',
    patches: [
      {
        from: `        tcp.resetAndDestroy()\n`,
        to: ``,
      },
    ],
    checks: [noReply()],
  },
  {
    protection: 'the late look: what comes too late after its intent is not sent',
    patches: [
      {
        from: `mayStart: () => clock.monotonic() <= about.notAfter,`,
        to: `mayStart: () => true,`,
      },
    ],
    checks: [stoodStill()],
  },
  {
    protection: 'a retry waits until nothing of the first can arrive (sendBy): from the shell',
    patches: [{ from: `  return sendBy + (`, to: `  return 0 * (` }],
    checks: [retriedTooEarly()],
  },
  {
    protection: 'a retry waits until nothing of the first can arrive (sendBy): from Git',
    patches: [{ from: `  return sendBy + (`, to: `  return 0 * (` }],
    checks: [retriedTooEarlyInGit()],
  },
  {
    protection: 'the id in the reply of a create is judged',
    patches: [
      {
        from: `  if (mismatch === undefined) return settleSuccess(`,
        to: `  if (mismatch !== '') return settleSuccess(`,
      },
    ],
    checks: [badId()],
  },
]
