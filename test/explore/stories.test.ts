import { describe, test } from 'vitest'
import { times } from '../reconcile/story.ts'
import { story, worldOf } from './stories.ts'

const MORE = {
  waits: ['5 s', '61 s', '3 min', '8 min', '61 min'],
  faults: ['permission', 'hides', 'gateway', 'deletes', 'restart', 'clock', 'idle', 'disk'],
  words: ['adopt', 'retry', 'retry in Git', 'force', 'recreate', 'recreate in Git', 'forget'],
  replies: [
    'refused',
    'throttled',
    'lost',
    'lost after the work',
    'never shown',
    "another's id",
    'dies, late',
  ],
  meanwhile: 1,
} as const

const ONE = worldOf('missing', MORE)
const NEW = worldOf('words', { ...MORE, edits: ['remove', 'rename'] })
const TWO = worldOf('two', MORE)
const TWO_NEW = { ...TWO, isSettled: false }
const PAIR = worldOf('pair', MORE)

const EACH = 'look Pipe/a; look Pipe/b'
/** The looks after which a 404 of Pipe/a is believed; the last one replaces the pipe. */
const A_MINUTE = `${EACH}; 5 s; ${EACH}; 61 s; look Pipe/b; look Pipe/a`
/** The same of one that is alone. */
const A_QUARTER = `look Pipe/a; ${times(5, '3 min; look Pipe/a')}`
/** As it is at first. */
const BOTH = { sent: 0, holds: { 'Pipe/a': '1', 'Pipe/b': '2' } } as const

describe('a pipe that is not found', () => {
  test('by a key without its permission keeps its id in each service', () =>
    story(PAIR, `permission lost; ${times(4, `${EACH}; 61 s`)}; permission back; ${EACH}`, {
      ...BOTH,
      says: { 'Pipe/a': 'InSync', 'Pipe/b': 'InSync' },
    }))

  test('is replaced after a minute beside a pipe of its service, and a process that stood still counts its looks', () =>
    story(TWO, `delete 0; ${EACH}; 3 min; ${EACH}; ${EACH}`, {
      sent: 1,
      pipes: ['b 2', 'a 3'],
      holds: { 'Pipe/a': '3', 'Pipe/b': '2' },
    }))

  test('is replaced after 15 minutes if it is the only one of its service', async () => {
    await story(ONE, `delete 0; look Pipe/a; ${times(4, '3 min; look Pipe/a')}`, {
      sent: 0,
      says: { 'Pipe/a': 'MissingUnconfirmed' },
    })
    await story(ONE, `delete 0; ${A_QUARTER}`, { sent: 1, says: { 'Pipe/a': 'Created' } })
  })

  test('beside one that a gateway hides is replaced once that one is seen', async () => {
    const hidden = `delete 0; 503 0; ${times(3, `${EACH}; 61 s`)}`
    await story(TWO, hidden, { ...BOTH, says: { 'Pipe/a': 'MissingUnconfirmed', 'Pipe/b': 'Unavailable' } })
    await story(TWO, `${hidden}; show 0; ${A_MINUTE}`, { sent: 1, says: { 'Pipe/a': 'Created' } })
  })

  test('beside others that are not found is reported after 15 minutes', () =>
    story(TWO, `permission lost; ${times(16, `${EACH}; 61 s`)}`, {
      sent: 0,
      says: { 'Pipe/a': 'MassMissing', 'Pipe/b': 'MassMissing' },
    }))

  test('has no witness in a pipe of another service', () =>
    story(PAIR, `delete 0; ${times(4, `${EACH}; 61 s`)}`, {
      ...BOTH,
      says: { 'Pipe/a': 'MissingUnconfirmed' },
    }))

  test.each(['refused', 'throttled'])('keeps its id if its replacement is %s', (reply) =>
    story(TWO, `delete 0; ${A_MINUTE} => ${reply}; crash; ${EACH}`, {
      sent: 1,
      holds: BOTH.holds,
      says: { 'Pipe/a': 'MissingUnconfirmed' },
    }),
  )

  test('and comes back while its replacement waits is kept', () =>
    story(ONE, `permission lost; ${A_QUARTER} => permission back`, { sent: 0, says: { 'Pipe/a': 'InSync' } }))

  test('by wall clock alone is not gone', () =>
    story(TWO, `delete 0; ${EACH}; 5 s; clock 3600000; ${EACH}; clock -3600000; 5 s; ${EACH}`, BOTH))

  test('is counted anew by a process that has just started', () =>
    story(TWO, `delete 0; ${EACH}; 5 s; ${EACH}; crash; clock 3600000; 61 s; look Pipe/b; look Pipe/a`, BOTH))

  test('is counted anew after minutes without a look', () =>
    story(TWO, `delete 0; ${EACH}; 5 s; ${EACH}; 8 min; ${EACH}; ${EACH}`, BOTH))

  test('within the first minute of its life is not gone', () =>
    story(TWO, `delete 0; ${A_MINUTE}; delete 1; ${A_MINUTE}`, {
      sent: 1,
      says: { 'Pipe/a': 'MissingUnconfirmed' },
    }))

  test('after it was replaced is held for an hour, then for two, and is kept if it comes back', async () => {
    const again = `61 s; ${EACH}; delete 1`
    const held = `delete 0; ${A_MINUTE}; ${again}; ${A_MINUTE}; ${EACH}`
    await story(TWO, held, { sent: 1, says: { 'Pipe/a': 'Missing' } })
    const replaced = `${held}; 61 min; ${A_MINUTE}; ${again}; 61 min; ${A_MINUTE}`
    await story(TWO, replaced, { sent: 2, says: { 'Pipe/a': 'Missing' } })
    await story(TWO, `${replaced}; 61 min; ${A_MINUTE}`, { sent: 3 })
    const back = `delete 0; ${A_QUARTER}; 61 s; look Pipe/a; permission lost; ${A_QUARTER}`
    await story(ONE, back, { sent: 1, says: { 'Pipe/a': 'Missing' } })
    await story(ONE, `${back}; permission back; look Pipe/a`, { sent: 1, says: { 'Pipe/a': 'InSync' } })
  })
})

describe('a created pipe that no GET ever finds', () => {
  const unseen = `look Pipe/b; look Pipe/a => never shown; ${times(10, `${EACH}; 61 s`)}`

  test('is never replaced, beside others and in a later process', () =>
    story(TWO_NEW, `${unseen}; crash; ${A_MINUTE}`, { sent: 2, says: { 'Pipe/a': 'NeverSeen' } }))

  test('is never replaced if it is the only one', () =>
    story(NEW, `look Pipe/a => never shown; ${times(10, 'look Pipe/a; 3 min')}`, {
      sent: 1,
      says: { 'Pipe/a': 'NeverSeen' },
    }))

  test('is replaced once by a word of a person', () =>
    story(TWO_NEW, `${unseen}; resolve Pipe/a --recreate; ${EACH}; crash; ${EACH}`, {
      sent: 3,
      pipes: ['b 1', 'a 2', 'a 3'],
      says: { 'Pipe/a': 'InSync' },
    }))
})

describe('a word about a pipe', () => {
  test('to make it again has no effect while the pipe is there, nor later', () =>
    story(
      TWO,
      `policy.recreate of Pipe/a is written; ${EACH}; resolve Pipe/a --recreate; ${EACH}; hide 0; ${EACH}; 5 s; ${EACH}`,
      { ...BOTH, says: { 'Pipe/a': 'MissingUnconfirmed' } },
    ))

  test('to make it again ends once the pipe is found', () =>
    story(
      TWO,
      `hide 0; look Pipe/a; resolve Pipe/a --recreate; show 0; ${EACH}; 61 s; hide 0; ${EACH}; 5 s; ${EACH}`,
      { ...BOTH, says: { 'Pipe/a': 'MissingUnconfirmed' } },
    ))

  test('to forget it is too early while its create might be on its way', () =>
    story(
      NEW,
      'look Pipe/a => lost; remove Pipe/a; look Pipe/a; forget Pipe/a; bring back Pipe/a; look Pipe/a',
      { sent: 1, says: { 'Pipe/a': 'OutcomeUnknown' } },
    ))

  test('to retry its create is refused for two minutes, then sends one', async () => {
    const early = `look Pipe/a => lost; ${times(2, 'resolve Pipe/a --retry; look Pipe/a; 61 s')}; resolve Pipe/a --retry; look Pipe/a`
    await story(NEW, early, { sent: 1, says: { 'Pipe/a': 'OutcomeUnknown' } })
    await story(NEW, `${early}; 61 s; resolve Pipe/a --retry; look Pipe/a`, { sent: 2, pipes: ['a 1'] })
  })

  test('to retry it is refused for 15 minutes if its process was killed', async () => {
    const early = 'look Pipe/a => dies, late; 8 min; resolve Pipe/a --retry; look Pipe/a'
    await story(NEW, early, { sent: 1, says: { 'Pipe/a': 'OutcomeUnknown' } })
    await story(NEW, `${early}; 8 min; resolve Pipe/a --retry; look Pipe/a`, {
      sent: 2,
      says: { 'Pipe/a': 'Created' },
    })
  })

  test('to retry it that Git says too early counts once it is written again', async () => {
    const early =
      'look Pipe/a => lost; policy.retryCreate of Pipe/a is written; 3 min; look Pipe/a; crash; look Pipe/a'
    await story(NEW, early, { sent: 1, says: { 'Pipe/a': 'OutcomeUnknown' } })
    const again = 'policy.retryCreate of Pipe/a is taken out; policy.retryCreate of Pipe/a is written'
    await story(NEW, `${early}; ${again}; look Pipe/a`, { sent: 2, pipes: ['a 1'] })
  })
})

describe('an orphan', () => {
  test('whose manifest comes back finds its pipe, also in a later process', () =>
    story(
      NEW,
      `look Pipe/a; ${times(2, 'remove Pipe/a; look Pipe/a; crash; bring back Pipe/a; look Pipe/a')}`,
      { sent: 1, holds: { 'Pipe/a': '1' }, says: { 'Pipe/a': 'InSync' } },
    ))
})

describe('an idle service', () => {
  test('gets its creates once it is awake', () =>
    story(NEW, 'idle; look Pipe/a; awake; 3 min; look Pipe/a; look Pipe/a', {
      sent: 2,
      pipes: ['a 1'],
      says: { 'Pipe/a': 'InSync' },
    }))
})

describe('a create of unknown outcome', () => {
  test('is settled once by a person who adopts its pipe', () =>
    story(
      NEW,
      'look Pipe/a => lost after the work; look Pipe/a; crash; look Pipe/a; resolve Pipe/a --adopt (pipe 1); look Pipe/a',
      { sent: 1, holds: { 'Pipe/a': '1' }, says: { 'Pipe/a': 'InSync' } },
    ))

  test('is that of a reply with the id of another key', () =>
    story(
      TWO_NEW,
      `look Pipe/b; look Pipe/a => another's id; crash; ${EACH}; resolve Pipe/a --adopt (pipe 2); look Pipe/a`,
      { sent: 2, holds: { 'Pipe/a': '2', 'Pipe/b': '1' }, says: { 'Pipe/a': 'InSync' } },
    ))
})

describe('while a create waits for its permit,', () => {
  const WAITING = worldOf('waiting', {
    edits: [
      'topics',
      'suspend',
      'remove',
      'service',
      'flaw',
      'password',
      'lock',
      'manifest',
      'unmount',
      'rename',
    ],
  })

  test.each([
    { edit: 'suspend Pipe/a', sent: 0, says: 'Suspended' },
    { edit: 'remove Pipe/a', sent: 0, says: 'Orphaned' },
    { edit: 'rename Pipe/a ax', sent: 0, says: 'Orphaned' },
    { edit: 'manifest Pipe/a', sent: 0, says: 'InvalidManifest' },
    { edit: 'flaw', sent: 0, says: 'DependencyNotReady' },
    { edit: 'lock Pipe/a', sent: 0, says: 'AdoptRefused' },
    { edit: 'unmount', sent: 0, says: 'SecretUnavailable' },
    { edit: 'service', sent: 1, says: 'Created' },
    { edit: 'password', sent: 1, says: 'Created' },
    { edit: 'topics Pipe/a', sent: 1, says: 'Created' },
  ])('"$edit" counts: $says', ({ edit, sent, says }) =>
    story(WAITING, `look Pipe/a => ${edit}`, { sent, says: { 'Pipe/a': says } }),
  )
})

describe('while an upsert waits for its place,', () => {
  test.each([
    { edit: 'origins', says: 'Applied' },
    { edit: 'service', says: 'Applied' },
    { edit: 'remove endpoint', says: 'Orphaned' },
    { edit: 'suspend endpoint', says: 'Suspended' },
    { edit: 'flaw', says: 'DependencyNotReady' },
  ])('"$edit" counts: $says', ({ edit, says }) =>
    story(worldOf('endpoint'), `look QueryEndpoint/one => ${edit}`, { says: { 'QueryEndpoint/one': says } }),
  )
})

describe('a process that stands still between its intent and its POST', () => {
  const FROZEN = worldOf('frozen', { ...MORE, meanwhile: 2 })

  test('knows that it sent nothing', () =>
    story(FROZEN, 'look Pipe/a => nothing => 61 s', { sent: 0, says: { 'Pipe/a': 'Unavailable' } }))

  test.each([
    { meanwhile: '61 s', done: 'sends nothing, and creates one pipe later' },
    { meanwhile: '3 min => resolve Pipe/a --retry', done: 'is not believed to be over after three minutes' },
    { meanwhile: '61 min => resolve Pipe/a --retry', done: 'sends nothing after a retry' },
    { meanwhile: '61 s => resolve Pipe/a --retry --force', done: 'sends nothing after a forced retry' },
  ])('$done', ({ meanwhile }) =>
    story(FROZEN, `look Pipe/a => nothing => ${meanwhile}; 3 min; look Pipe/a; crash; look Pipe/a`, {
      sent: 1,
      pipes: ['a 1'],
      holds: { 'Pipe/a': '1' },
    }),
  )
})

describe('a process that stands still on its way to a create, while another one takes over', () => {
  const FORCED = '=> resolve Pipe/a --retry --force'

  test.each([
    'stands still',
    'goes on => stands still',
    `goes on => goes on => stands still ${FORCED}`,
    `goes on => goes on => goes on => stands still ${FORCED}`,
    `goes on => goes on => goes on => goes on => stands still ${FORCED}`,
  ])('sends nothing when it wakes up: "%s"', (when) =>
    story(worldOf('pods'), `one looks at Pipe/a => ${when}`, { sent: 1 }),
  )
})

describe('policy.replaces', () => {
  const COPIED = 'copy ac; look Pipe/ac; remove Pipe/a; look Pipe/a; 3 min; look Pipe/ac'
  const RENAMES = worldOf('renamings', {
    edits: ['rename', 'rename with its name', 'copy', 'remove', 'topics'],
  })

  test.each([
    { rename: 'rename Pipe/ac acx', key: 'Pipe/acx', says: 'InSync' },
    { rename: 'rename Pipe/ac acy', key: 'Pipe/acy', says: 'Ambiguous' },
    { rename: 'rename Pipe/ac acx; topics Pipe/acx', key: 'Pipe/acx', says: 'Ambiguous' },
  ] as const)('is no leave for a later "$rename": $says', ({ rename, key, says }) =>
    story(RENAMES, `${COPIED}; ${rename}; look ${key}; 3 min; look ${key}`, {
      sent: 1,
      says: { [key]: says },
    }),
  )
})
