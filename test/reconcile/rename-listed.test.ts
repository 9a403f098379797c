import { describe, expect, test } from 'vitest'
import { viewMessage } from '../support/messages.ts'
import { listedStory, listedWorld } from './given-listing.ts'
import { play, rowsOf, story, times } from './story.ts'

/* What the list shows of a pipe whose record has no manifest: it may be the one that a new manifest asks for. */

/** A pipe `old` that a person has edited since Pipewright created it. */
const edited = (settings: string) => `write old; look old; 1 min; edit #1 ${settings}`
const SAME = 'name=new topics=new'

describe('a new manifest, where the list shows the pipe of a record without a manifest with', () => {
  type Row = readonly [
    why: string,
    edit: string,
    fresh: string,
    reasons: readonly [string, string],
    moves: boolean,
  ]
  const SUSPECTED = ['Ambiguous unclaimed', 'Ambiguous unclaimed'] as const
  const MOVED = ['Ambiguous unclaimed', 'InSync accepted'] as const
  const MADE = ['New', 'InSync'] as const

  test.each<Row>([
    ['the name and the body that are asked for: the record moves', SAME, '', MOVED, true],
    ['the name that is asked for, and another body', `${SAME} replicas=3`, '', SUSPECTED, false],
    ['the same, beside another pipe of that name', `${SAME}; make new`, '', SUSPECTED, false],
    ['the source and the table that are asked for', 'name=else topics=new replicas=3', '', SUSPECTED, false],
    ['the name and the body, and policy.replaces: it is a new one', SAME, 'replaces=Pipe/old', MADE, false],
    ['the name and the body, and policy.replaces of another one', SAME, 'replaces=Pipe/other', MOVED, true],
    ['nothing in common', 'name=else topics=else', '', MADE, false],
  ])('%s', async (_, edit, fresh, [whileMissing, onceGone], moves) => {
    const key = moves ? 'Pipe/new' : 'Pipe/old'
    const others = whileMissing === 'New' ? { 'Pipe/new': '2' } : {}
    const world = await listedWorld(
      `${edited(edit)}; remove old; write new ${fresh}; look new: ${whileMissing}; read again; 1 min; look new: ${onceGone}`,
      { sent: whileMissing === 'New' ? 2 : 1, holds: { [key]: '1', ...others } },
    )
    expect((await world.record(key)).platformName).toBe(moves ? 'new' : 'old')
    expect(viewMessage(world.board.get('Pipe/new')).includes('Pipe/old')).toBe(
      onceGone.startsWith('Ambiguous'),
    )
  })

  const ROWS = `
    the earlier name of policy.renamedFrom | make old topics=t; write new topics=t replicas=3 renamedFrom=Pipe/old; look new: Ambiguous;
      tells new: policy.replaces; write new topics=t replicas=3 renamedFrom=Pipe/old replaces=#1 | 1
    the same source, twice | make a topics=t; make b topics=t replicas=2; write new topics=t replicas=3; look new: Ambiguous;
      tells new: give each a manifest; write new topics=t replicas=3 replaces=#1; look new: Ambiguous;
      tells new: give it a manifest; write b topics=t replicas=2 adopt=#2; look b | 1
    the same source, as two records | write a topics=t; look a; remove a; write b topics=t replicas=2 replaces=Pipe/a; look b; remove b;
      read again; look a; look b; write new topics=t replicas=3 replaces=Pipe/b; look new: Ambiguous unclaimed;
      tells new: restore the manifest of Pipe/a; write a topics=t; look a: InSync | 3`
  test.each(rowsOf(ROWS))('%s, and is created as the message advises', (_, text, sent) =>
    listedStory(`${text}; look new: New; look new: InSync`, { sent: Number(sent) }),
  )

  test('the name that is asked for, once the ledger is restored from before a rename and an edit', async () => {
    const world = await listedWorld(
      `${edited('name=new topics=else')}; remove old; write new topics=else; read again; look new: from Pipe/old;
      look new: InSync`,
      { sent: 1, holds: { 'Pipe/new': '1' } },
    )
    expect((await world.record('Pipe/new')).platformName).toBe('new')
  })
})

test('a new manifest is not created while the list shows the pipe of another manifest under its name', () =>
  listedStory(`${edited('name=new')}; write new; look new: Ambiguous claimed`, { sent: 1 }))

test('a pipe that is gone is created again, though the list shows a copy of it under its name', () =>
  story(
    `write orders; look orders; write copy name=orders topics=orders replaces=Pipe/orders; look copy; 60 min; look orders;
    delete orders; ${times(5, '1 min; look copy; look orders')}`,
    { sent: 3 },
  ))

test('a pipe that is gone is not created again under a name that the list shows on the pipe of another key', async () => {
  const each = 'look orders; look other; look third'
  const world = await listedWorld(`write orders; write other; write third; ${each}; 60 min; ${each}`)
  await play(
    world,
    `delete orders; edit #2 name=orders; ${times(39, `30 s; ${each}`)}; 30 s; look orders: Ambiguous claimed; look other; look third`,
  )
  expect(world.platform.posts).toHaveLength(3)
})
