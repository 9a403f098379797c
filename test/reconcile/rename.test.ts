import { describe, expect, test } from 'vitest'
import { messageOf } from '../../src/plan/reason.ts'
import { given } from './given.ts'
import { pipe } from './manifests.ts'
import { play, rowsOf, story, times, worldAfter } from './story.ts'

const NAMED = 'name=orders topics=orders'
/** A pipe `old` that was created, and whose manifest is gone. */
const orphan = (settings = NAMED) => `write old ${settings}; look old; remove old; read again; look old`

describe('a new manifest beside an orphan with', () => {
  // The settings of the old and the new manifest, the reason of the new one, creates, and the key that has pipe 1.
  const ROWS = `
    the same service and body | ${NAMED} | ${NAMED} | InSync | 1 | new
    the same name on the platform, another body | ${NAMED} | ${NAMED} replicas=2 | Ambiguous unclaimed | 1 | old
    the same body, a name of its own | topics=a | topics=a | Ambiguous unclaimed | 1 | old
    the same source and table | topics=a | topics=a replicas=2 | Ambiguous unclaimed | 1 | old
    the same, and replaces | topics=a | topics=a replicas=2 replaces=Pipe/old | New | 2 | old
    the same, and renamedFrom | topics=a | topics=a replicas=2 renamedFrom=Pipe/old | NotUpdatable | 1 | new
    the same table, another source | topics=a | topics=b | New | 2 | old
    the same source, another table | topics=a | topics=a table=returns | New | 2 | old
    nothing in common | ${NAMED} | name=returns topics=returns | New | 2 | old
    a body of its own, and renamedFrom | ${NAMED} | ${NAMED} replicas=2 renamedFrom=Pipe/old | NotUpdatable | 1 | new
    the same body, and replaces | ${NAMED} | ${NAMED} replaces=Pipe/old | New | 2 | old
    replaces of another one | ${NAMED} | ${NAMED} replicas=2 replaces=Pipe/other | Ambiguous unclaimed | 1 | old`
  test.each(rowsOf(ROWS))('%s', async (_, old, fresh, reason, creates, at) => {
    const sent = Number(creates)
    const text = `${orphan(old)}; write new ${fresh}; look new: ${reason}; look new`
    const others = sent === 2 ? { 'Pipe/new': '2' } : {}
    const world = await worldAfter(text, { sent, holds: { [`Pipe/${at}`]: '1', ...others } })
    expect(world.board.get('Pipe/old') === undefined).toBe(at === 'new')
  })
})

const ASKED = 'Ambiguous unclaimed; tells new: policy.renamedFrom: Pipe/old'

describe('a rename', () => {
  const ROWS = `
    waits until its old manifest is gone, and then moves by itself | ${NAMED} | write new@old ${NAMED} | InSync
    with another edit in the same commit creates nothing | topics=orders | write new@old topics=orders replicas=2 | ${ASKED}
    is compared with the pipe as it was last seen, too | |
      edit #1 name=new topics=new; look old: Drifted; remove old; write new | ${ASKED}`
  test.each(rowsOf(ROWS))('%s', (_, old, renamed, end) =>
    story(
      `write old ${old}; look old; ${renamed}; look new: Ambiguous unclaimed; read again; look new: ${end}`,
      { sent: 1 },
    ),
  )

  test('by policy.renamedFrom waits until it is sure that the old manifest is gone', async () => {
    const world = await worldAfter(
      `write old ${NAMED}; look old; remove old; write new ${NAMED} renamedFrom=Pipe/old; look new: Ambiguous renamed-from;
      tells new: If not, remove policy.renamedFrom of Pipe/new; write old ${NAMED}; look new; look old: InSync; remove old; read again`,
    )
    expect((await world.go('Pipe/old')).also).toContain('Pipe/new')
    expect((await world.go('Pipe/old')).also).not.toContain('Pipe/new')
    await play(world, 'look new: from Pipe/old')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('that two manifests claim by policy.renamedFrom waits until one of them does', async () => {
    const claiming = `${NAMED} renamedFrom=Pipe/old`
    const world = await worldAfter(
      `write old ${NAMED}; look old; write a ${claiming}; look a; remove old; write new ${claiming}; read again`,
    )
    for (const [key, rival] of [
      ['Pipe/a', 'Pipe/new'],
      ['Pipe/new', 'Pipe/a'],
    ] as const) {
      const { action } = await world.go(key)
      expect(action.reason).toBe('Ambiguous')
      expect(messageOf(action, { key })).toBe(
        `policy.renamedFrom of ${key} names Pipe/old (old.yaml). The manifest of ${rival} names Pipe/old too. The record can move to only one of the two. ` +
          `No request is sent until you decide. Remove policy.renamedFrom from the wrong manifest: ${rival}.`,
      )
    }
    await play(world, `write a ${NAMED}; look new: from Pipe/old; look a: Ambiguous claimed`)
    expect(world.platform.posts).toHaveLength(1)
  })

  // Another topic is another identity, and the pipe still has the old one.
  test.each(['', 'restart; ', 'read again; ', 'read again; restart; '])(
    'with an edit that was not applied before it is a rename too: "%s"',
    (between) =>
      story(
        `write old topics=a; look old; write old topics=b; look old: NotUpdatable; remove old; write new topics=b;
        ${between}look new: Ambiguous unclaimed; 1 h; look new: Ambiguous unclaimed`,
        { sent: 1 },
      ),
  )

  test('with such an edit waits for a manifest that describes the pipe as it is', () =>
    story(
      `write old name=orders topics=a; look old; write old name=orders topics=b; look old: NotUpdatable; remove old;
      write n1 name=orders topics=a; write n2 name=orders topics=b; read again; look n2: Ambiguous unclaimed; look n1: from Pipe/old`,
      { sent: 1, holds: { 'Pipe/n1': '1' } },
    ))

  test('gives nothing to a copy that was there before: a person says which of the two it is', () =>
    story(
      `write old ${NAMED}; write a-copy ${NAMED}; look old; look a-copy; remove old; write new ${NAMED}; read again;
      look a-copy: Ambiguous unclaimed; look new: Ambiguous unclaimed; write new ${NAMED} renamedFrom=Pipe/old;
      look new: from Pipe/old; look a-copy: Ambiguous claimed`,
      { sent: 1 },
    ))

  test('is not held by a manifest with errors that had the same body', () =>
    story(
      `${orphan()}; write other ${NAMED}; write other ${NAMED} invalid; write new ${NAMED}; look new: from Pipe/old`,
    ))

  test('takes an unknown outcome along', async () => {
    const world = await worldAfter(`write old ${NAMED}; create: unclear after the work; look old`)
    const { intent } = await world.record('Pipe/old')
    await play(world, `write new@old ${NAMED}; read again; look new: OutcomeUnknown`)
    expect((await world.record('Pipe/new')).intent).toEqual(intent)
    expect(world.platform.posts).toHaveLength(1)
  })

  test('of two manifests that cannot be told apart is suspected', () =>
    story(
      `write a ${NAMED}; write b ${NAMED} replaces=Pipe/a; look a; look b; remove a; remove b; read again;
      write c ${NAMED}; look c: Ambiguous unclaimed`,
      { sent: 2 },
    ))

  test('back and forth stays one pipe', () => {
    const names = ['new', 'old', 'other', 'old']
    const renames = names.map(
      (name) => `write ${name}@old ${NAMED}; read again; look ${name}; shown ${name}: Ready`,
    )
    return story(`write old ${NAMED}; look old; ${renames.join('; ')}`, {
      sent: 1,
      holds: { 'Pipe/old': '1' },
    })
  })

  test('decides anew when somebody else wrote the record that is to move', async () => {
    const world = await worldAfter(orphan())
    await world.ledger.swap({ ...(await world.record('Pipe/old')), file: 'elsewhere.yaml' }, [])
    await play(world, `write new ${NAMED}; look new: InSync`)
    expect((await world.record('Pipe/new')).remote?.id).toBe(world.platform.posts[0]?.pipeId)
  })

  test('of a record that a person forgot meanwhile creates a new pipe', async () => {
    const world = await worldAfter(orphan())
    await world.ledger.remove(await world.record('Pipe/old'), [])
    await play(world, `write new ${NAMED}; look new: New`)
    expect(world.platform.posts).toHaveLength(2)
  })

  test('waits for a ledger that cannot be written, and says so', async () => {
    const world = await worldAfter(`${orphan()}; write new ${NAMED}`)
    world.ledger.script('fails')
    const { outcome, next } = await world.go('Pipe/new')
    expect(outcome).toMatchObject({ result: 'failed', reason: 'LedgerFailed' })
    expect(next?.why).toBe('retry')
    await play(world, 'look new: InSync')
    expect(world.platform.posts).toHaveLength(1)
  })
})

describe('a rename while a create is under way', () => {
  test('waits for the create, and then takes its pipe along: one POST', async () => {
    const world = await worldAfter(`write old ${NAMED}`)
    const reply = Promise.withResolvers<void>()
    world.platform.script('create', { type: 'slow', until: reply.promise })
    const creating = world.begin('Pipe/old')
    await world.clock.settle()
    expect(world.platform.posts).toHaveLength(1)
    await play(
      world,
      `write new@old ${NAMED}; look new: Ambiguous unclaimed; read again; look new: Ambiguous unclaimed;
      write new@old ${NAMED} renamedFrom=Pipe/old; look new: Ambiguous renamed-from`,
    )
    reply.resolve()
    await creating
    await play(world, 'look new: InSync')
    expect(world.platform.posts).toHaveLength(1)
    expect((await world.record('Pipe/new')).remote?.id).toBe(world.platform.posts[0]?.pipeId)
  })

  test('that still waits for its place creates the pipe under the new name: one POST', async () => {
    const world = await worldAfter(`write old ${NAMED}`)
    const place = Promise.withResolvers<void>()
    world.platform.script('admit', { type: 'slow', until: place.promise })
    const waiting = world.begin('Pipe/old')
    await world.clock.settle()
    await play(world, `write new@old ${NAMED}; look new`)
    place.resolve()
    await waiting
    await play(world, 'read again; look old; look new')
    expect(world.platform.posts.map(({ key }) => key)).toEqual(['Pipe/new'])
    expect((await world.ledger.list()).filter(({ intent }) => intent !== undefined)).toHaveLength(1)
  })

  test('whose outcome is not on disk yet waits for that, too', async () => {
    const world = await worldAfter(`write old ${NAMED}`)
    const reply = Promise.withResolvers<void>()
    world.platform.script('create', { type: 'slow', until: reply.promise })
    const creating = world.begin('Pipe/old')
    await world.clock.settle()
    world.ledger.script(...Array.from({ length: 8 }, () => 'fails' as const))
    await play(world, `write new@old ${NAMED}; read again`)
    reply.resolve()
    await world.clock.advance(10_000)
    await creating
    await play(world, `look new: Ambiguous unclaimed; ${times(3, 'look old')}; look new: InSync`)
    expect(world.platform.posts).toHaveLength(1)
    expect((await world.record('Pipe/new')).remote?.id).toBe(world.platform.posts[0]?.pipeId)
  })
})

test('a look that was still due at a key that is forgotten writes nothing', async () => {
  const world = await worldAfter(`write old ${NAMED}; remove old; read again; look old; read again`)
  const writes = world.writes.length
  await play(world, 'look old; shown old: nothing')
  expect(world.writes).toHaveLength(writes)
  expect(await world.ledger.get('Pipe/old')).toBeUndefined()
})

describe('a new manifest beside one that still holds its pipe', () => {
  const ROWS = `
    the same service and body | ${NAMED} | Ambiguous claimed | new
    the same name, another body | ${NAMED} replicas=2 | Ambiguous claimed | old
    the same body under another name | name=orders-v2 topics=orders | Ambiguous claimed | old
    policy.renamedFrom alone | name=returns topics=returns renamedFrom=Pipe/old | Ambiguous renamed-from | new`
  test.each(rowsOf(ROWS))('%s: no second pipe when the old one goes', (_, fresh, reason, at) =>
    story(
      `write old ${NAMED}; look old; write new ${fresh}; look new: ${reason}; tells new: Pipe/old (old.yaml);
      look old; shown old: Ready; remove old; read again; look new`,
      { sent: 1, holds: { [`Pipe/${at}`]: '1' } },
    ),
  )

  test.each([
    ['topics=returns', 'ok'],
    ['topics=returns', 'lost after the work'],
    ['invalid', 'ok'],
  ])(
    'the same source in an edited body, where the first manifest is another one by now: %s, %s',
    (by, reply) =>
      story(
        `write old ${NAMED}; create: ${reply}; look old; write old ${by}; write new topics=orders replicas=2;
      look new: Ambiguous claimed; write new topics=orders replicas=2 replaces=Pipe/old; look new: New`,
      ),
  )

  test.each([
    ['write old topics=returns', 'Ambiguous claimed'],
    ['remove old', 'Ambiguous unclaimed'],
  ])('the same source by an edit after its own pipe was deleted, and %s: %s', (old, reason) =>
    story(
      `write old ${NAMED}; write new; look old; look new; delete new; write new topics=orders replicas=2 recreate=#2;
      ${old}; read again; look new: ${reason}`,
    ),
  )

  test('is created when policy.replaces says that it is a new one', () =>
    story(`write old ${NAMED}; look old; write new ${NAMED} replaces=Pipe/old; look new: New`, { sent: 2 }))

  test('of two that are new, one is created, though both were decided', async () => {
    const world = await worldAfter(`write a ${NAMED}; write b ${NAMED}`)
    const reasons = await Promise.all([world.go('Pipe/a'), world.go('Pipe/b')])
    expect(reasons.map(({ action }) => action.reason).toSorted()).toEqual(['Ambiguous', 'New'])
    expect(world.platform.posts).toHaveLength(1)
  })

  test('is created where the other one failed without effect', () =>
    story(
      `write a ${NAMED}; write b ${NAMED}; create: refused; look a; look b: New; 1 h; look a: Ambiguous claimed`,
      { sent: 2 },
    ))
})

describe('an orphan whose pipe has another name or source in the console', () => {
  const RAW = 'clicks-2024-x'
  const LONG = Array.from({ length: 8_000 }, (_, index) => `topic-${index}`).join(',')
  const BY_NAME = `${RAW} topics=other`

  test.each([
    ['its name', `name=${RAW}`, BY_NAME, RAW],
    ['its topics', `topics=${RAW}`, `sales topics=${RAW}`, RAW],
    ['long topics', `topics=${LONG}`, `sales topics=${LONG}`, ''],
  ])(
    'is found by %s, also if the text is masked or shortened where it is shown',
    async (_, edit, wanted, secret) => {
      const world = await worldAfter(`write orders; look orders; edit #1 ${edit}`)
      world.context.mask.add(secret)
      const gone = 'look orders; remove orders; read again; look orders'
      await play(world, `${gone}; write ${wanted}; look ${wanted.split(' ')[0]}: Ambiguous unclaimed`)
    },
  )

  test.each([
    ['name', `name=${RAW}`, BY_NAME, 'Ambiguous unclaimed'],
    ['topics', `topics=${RAW}`, `${RAW} topics=${RAW}`, 'Ambiguous unclaimed'],
    ['long name', `name=${LONG}`, BY_NAME, 'New'],
    ['other topics', `topics=${LONG}`, BY_NAME, 'New'],
  ])('after a restart, with another %s in the console', async (_, edit, wanted, reason) => {
    const world = await worldAfter(`write orders; look orders; edit #1 ${edit}`)
    world.context.mask.add(RAW)
    await play(
      world,
      `look orders; remove orders; restart; write ${wanted}; read again; look orders; look ${RAW}: ${reason}`,
    )
  })

  test('is found after a restart, if the new manifest writes out a default of its destination', async () => {
    const manifest = JSON.parse(pipe('orders')) as { spec: { destination: object } }
    const { database: _, ...destination } = manifest.spec.destination as { database: string } // as in manifests.ts
    const spec = { ...manifest.spec, destination }
    const world = await given({ 'orders.yaml': JSON.stringify({ ...manifest, spec }) })
    await play(
      world,
      'look orders; remove orders; restart; write sales topics=orders; read again; look orders; look sales: Ambiguous unclaimed',
    )
  })
})
