import type { Removal } from './list.ts'

const CREATE = 'test/reconcile/create.test.ts'
const FAULTS = 'test/platform/faults.test.ts'
const REPLIED_ID = 'test/reconcile/replied-id.test.ts'
const SEND = 'test/platform/create.test.ts'

const LATER = `
async function swapLater(context: ReconcileContext, opened: LedgerRecord, history: readonly HistoryEntry[]) {
  setTimeout(() => void context.ledger.swap(opened, history).catch(() => undefined), 2_000)
  return { ...opened, version: opened.version + 1 }
}
`

/** Of protections that the explorer cannot see. */
export const BY_TESTS: readonly Removal[] = [
  {
    protection: 'the intent is durable before the POST',
    patches: {
      from: `const written = await context.ledger.swap(opened, [started])`,
      to: `const written = await swapLater(context, opened, [started])`,
      below: LATER,
    },
    tests: CREATE,
  },
  {
    protection: 'a create whose decision is too old is decided anew before its intent',
    patches: {
      from: `if (begunAt - assessment.gathered.since > goodForMs) throw`,
      to: `if (begunAt < creation.since) throw`,
    },
    tests: CREATE,
  },
  {
    protection: 'a write of the ledger is exclusive (compare-and-set)',
    patches: { from: `if (version !== seen.version) throw`, to: `if (version < 0) throw` },
    tests: 'test/ledger',
  },
  {
    protection: 'no second attempt while an intent is open: the fence behind the decision alone',
    patches: {
      from: `if (intent?.state === 'open' || intent?.state === 'unknown') throw new IntentRefused`,
      to: `if (intent?.id === '') throw new IntentRefused`,
    },
    tests: 'test/plan/transitions.test.ts',
  },
  {
    protection: 'a reset after the request went out has an unknown effect',
    patches: {
      from: `if (seen.type === 'silence') return seen.sent ? 'unknown' : 'none'`,
      to: `if (seen.type === 'silence') return 'none'`,
    },
    tests: FAULTS,
  },
  {
    protection: 'a 500 has an unknown effect',
    patches: { from: `'Missing', 'ServiceIdle'])`, to: `'Missing', 'ServiceIdle', 'Unavailable'])` },
    tests: FAULTS,
  },
  {
    protection: 'a refusal counts only if the platform itself refuses',
    patches: { from: `return REFUSED.has(kind) && body.isPlatforms ?`, to: `return REFUSED.has(kind) ?` },
    tests: FAULTS,
  },
  {
    protection: 'a create ends by its deadline, not by the stop',
    patches: [
      {
        from: `looks: looksIn(places, service), readValue`,
        to: `looks: looksIn(places, service), signal: readOptions.signal, readValue`,
      },
      { from: `{ way, parts, notAfter, onSent`, to: `{ way, parts, notAfter, signal: call.signal, onSent` },
      { from: `signal: undefined,\n`, to: `signal: about.signal,\n` },
    ],
    tests: FAULTS,
  },
  {
    protection: 'the socket of a create without a whole reply is reset',
    patches: { from: `tcp.resetAndDestroy()\n`, to: `` },
    tests: SEND,
  },
  {
    protection: 'a create that is too late after its intent is not sent',
    patches: { from: `notAfter: about.notAfter,`, to: `` },
    tests: SEND,
  },
  {
    protection: 'an upsert is decided anew before each retry',
    patches: {
      from: `const body = await read.body(places)\n`,
      to: `if (!MADE.has(read)) MADE.set(read, await read.body(places))\n    const body = MADE.get(read)\n`,
      below: `const MADE = new WeakMap()`,
    },
    tests: SEND,
  },
  ...[
    { of: 'that is no id', from: `if (!form.matches(id)) return`, to: `if (id === '') return` },
    {
      of: 'that another reply brought',
      from: `store.holderOf(id, expected.key) ?? store.claimantOf(id, expected.key)`,
      to: `store.holderOf(id, expected.key)`,
    },
    {
      of: 'of a pipe of another service',
      from: `!sameId(serviceId, expected.service.serviceId)`,
      to: `serviceId === ''`,
    },
    {
      of: 'of a pipe with another name',
      from: `typeof name === 'string' && name !== expected.name`,
      to: `name === ''`,
    },
    {
      of: 'in a cut reply that belongs to a pipe with another name',
      from: `&& name === recorded.platformName`,
      to: `&& name !== ''`,
    },
    {
      of: 'in a cut reply that belongs to an older pipe',
      from: `if (isOlder(createdAt, intent) !== false)`,
      to: `if (createdAt === intent.id)`,
    },
    {
      of: 'in a cut reply that another key holds',
      from: `if (!isOurs || store.holderOf(id, recorded.key) !== undefined) return`,
      to: `if (!isOurs) return`,
    },
  ].map(({ of, from, to }) => ({
    protection: `the reply to a create is not believed if it brings an id ${of}`,
    patches: { from, to },
    tests: REPLIED_ID,
  })),
  {
    protection: 'a record keeps what was asked for last, by which a rename is seen',
    patches: { from: `wanted: wantedAfter(assessment.input, acted.record),`, to: '' },
    tests: 'test/reconcile/rename.test.ts',
  },
  {
    protection: 'secrets that were sent are masked from the start',
    patches: { from: `if (sent.has(store.hashOf(secret))) mask.add(secret.reveal())`, to: 'void mask' },
    tests: 'test/cli/mask-sent.test.ts',
  },
  {
    protection: 'a stop that took effect is over before a change starts the pipe',
    patches: {
      from: `command?.command === 'stop' && command.isForChange !== true && isAtRest(input)`,
      to: `command?.command === 'start' && isAtRest(input)`,
    },
    tests: 'test/clickhouse-cloud/commands.test.ts',
  },
  {
    protection: "a person's suspension of a new name outlives the move of its record",
    patches: { from: `suspension: commanded?.suspension,`, to: '' },
    tests: 'test/reconcile/suspend.test.ts',
  },
  {
    protection: "an operator's command adopts no pipe that another command adopts meanwhile",
    patches: { from: `if (since !== undefined) return refused(since)`, to: '' },
    tests: 'test/reconcile/adopt.test.ts',
  },
  {
    protection: 'an id of two cut replies belongs to the first that reads it',
    patches: { from: `store.claim(recorded.key, id)`, to: '' },
    tests: REPLIED_ID,
  },
  {
    protection: 'a pipe that another manifest means is not changed',
    patches: { from: `unfound, claimedFirst, refusedBefore,`, to: `unfound, refusedBefore,` },
    tests: 'test/clickhouse-cloud/policies.test.ts',
  },
  {
    protection: 'a pipe is read again before a change that waited',
    patches: { from: `const isFresh = !isRead && `, to: `const isFresh = !isRead || ` },
    tests: 'test/clickhouse-cloud/waits.test.ts',
  },
  {
    protection: 'a pipe that the manifest of a new name describes is not deleted',
    patches: {
      from: `store.successors(id.toLowerCase()).find((other) => other !== key) ?? alikeTo(store, record)`,
      to: `store.successors(id.toLowerCase()).find((other) => other !== key)`,
    },
    tests: 'test/clickhouse-cloud/deletion-edges.test.ts',
  },
  {
    protection: 'an edit that was not applied takes no pipe from the manifest that describes it',
    patches: {
      from: `const isSame = from.key !== replaces && (isAsApplied || alikeTo(store, from) === undefined)`,
      to: `const isSame = from.key !== replaces && (isAsApplied || from.key !== '')`,
    },
    tests: 'test/reconcile/rename.test.ts',
  },
  {
    protection: 'half a file in a working tree of Git does not count',
    patches: {
      from: `if ((await revisionSince(root, revision)) !== undefined) return []`,
      to: `if (revision.from !== 'content' || (await revisionSince(root, revision)) !== undefined) return []`,
    },
    tests: 'test/manifest/half-written.test.ts',
  },
  {
    protection: 'manifests behind a link that cannot be followed stay unread',
    patches: {
      from: `else if (code !== 'ENOENT' && code !== 'ENOTDIR')`,
      to: `else if (code === 'never')`,
    },
    tests: 'test/manifest/read-directory.test.ts',
  },
  {
    protection: 'a service that carries out a create late has time for it before a retry',
    patches: { from: `lastsMs: createOnceKindOf(context.profile, key).createLastsMs,`, to: '' },
    tests: 'test/clickhouse-cloud/late-create.test.ts',
  },
  {
    protection: 'secrets inside a JSON secret are masked',
    patches: { from: `[secret, ...sensitiveIn(secret)].flatMap(needlesOf)`, to: 'needlesOf(secret)' },
    tests: 'test/lib/secret-mask.test.ts',
  },
  {
    protection: 'an upsert of another body is recorded before its request',
    patches: {
      from: `if (attempts === 0) journaled = await recordUnknown(context, asked, before)`,
      to: `if (attempts < 0) journaled = await recordUnknown(context, asked, before)`,
    },
    tests: 'test/reconcile/endpoint-and-alert.test.ts',
  },
  {
    protection: 'an edit that a crash cut is sent again',
    patches: { from: `const unsure = interrupted.filter(`, to: `const unsure = [].filter(` },
    tests: 'test/clickhouse-cloud/update.test.ts',
  },
  {
    protection: 'a stop lets a change end',
    patches: {
      from: `{ admission: places.admission(), body, notAfter, signal: undefined }`,
      to: `{ admission: places.admission(), body, notAfter, signal }`,
    },
    tests: FAULTS,
  },
  {
    protection: 'a list that might be cut is no answer',
    patches: { from: `list.length >= (operations.list?.most ?? Infinity)`, to: `list.length < 0` },
    tests: 'test/platform/list.test.ts',
  },
]
