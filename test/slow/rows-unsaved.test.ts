import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import { mayMount, mountDisk } from './support/disk.ts'
import { createStory, type Story } from './support/story.ts'

/* Row 14: the outcome of a create cannot be written. The id is told, and what a restart would cost. */

describe.concurrent('row 14: a disk that is full at the outcome', () => {
  test('is said where people look, and at the stop the last words are the way to keep the id', async ({
    expect,
  }) => {
    await using story = await createStory()
    story.writePipe('orders')
    const env = { PIPEWRIGHT_FAILPOINT: 'before-id=disk-full' }
    const live = await story.start(['--interval', '1s'], { env })
    const unsaved = await live.says('Pipe/orders', 'OutcomeUnsaved')
    const id = story.id('orders')
    expect(unsaved.status).toBe('Failed')
    expect(unsaved.message).toContain(id)
    expect(unsaved.message).toMatch(/restart/i)
    expect(await live.metric('pipewright_unsaved_outcomes')).toBe(1)
    const attention = JSON.stringify(await (await fetch(`${live.url}/api/v1/attention`)).json())
    expect(attention).toContain(id)
    expect(attention).toContain('OutcomeUnsaved')
    // Nothing else is created while nothing can be written.
    story.writePipe('refunds')
    await live.says('Pipe/refunds', 'LedgerFailed')
    expect(story.posts('refunds')).toEqual([])

    live.program.signal('SIGTERM')
    expect(await live.program.ended).toBe(1)
    const command = `pipewright resolve Pipe/orders --adopt ${id}`
    const last = live.program.log().slice(-3)
    expect(last.map((line) => JSON.stringify(line)).join('\n')).toContain(command)

    // As it is typed, while nothing runs.
    const resolved = await story.run(command.split(' ').slice(1))
    expect(resolved.stderr).toBe('')
    const again = await story.start(['--interval', '1s'])
    expect(await again.says('Pipe/orders', 'Ready')).toMatchObject({ pipeId: id })
    await again.says('Pipe/refunds', 'Ready')
    expect(story.posts()).toHaveLength(2)
    expect(await again.metric('pipewright_unsaved_outcomes')).toBe(0)
  })
})

describe.concurrent('row 14: a ledger that another program holds while the reply is on its way', () => {
  test('takes the id of apply, which waits at its end, and then does what waited for the pipe', async ({
    expect,
  }) => {
    await using story = await createStory()
    using held = holdAtCreate(story)
    story.writePipe('orders')
    story.writePipe('refunds', { policy: { dependsOn: '[Pipe/orders]' } })
    const applied = story.run(['apply'])
    await until('the create', () => story.posts().length === 1)
    await setTimeout(8_000) // after some five it is not tried to be written any more before the end
    held.end()
    const { code, stderr } = await applied
    expect(code, stderr).toBe(0)
    expect(story.posts()).toHaveLength(2)
    const live = await story.start(['--interval', '1s'])
    expect(await live.says('Pipe/orders', 'Ready')).toMatchObject({ pipeId: story.id('orders') })
    expect(story.posts()).toHaveLength(2)
  })

  test('apply that is stopped meanwhile does not say that the ledger lacks what it took in the end', async ({
    expect,
  }) => {
    await using story = await createStory()
    using held = holdAtCreate(story)
    story.writePipe('orders')
    const applied = story.apply()
    await until('the outcome to be kept in memory', () => applied.stderr().includes('Problem found'))
    const before = awakenings(applied.pid)
    applied.signal('SIGTERM')
    await until('it to have heard that', () => awakenings(applied.pid) > before + 5)
    held.end()
    expect(await applied.ended).toBe(1)
    expect(applied.stdout()).toContain('The outcome of the create is in the ledger')
    expect(applied.stdout()).not.toContain('OutcomeUnsaved')
    const live = await story.start(['--interval', '1s'])
    expect(await live.says('Pipe/orders', 'Ready')).toMatchObject({ pipeId: story.id('orders') })
    expect(story.posts()).toHaveLength(1)
  })
})

/** How often a process went on after it had waited for something. */
function awakenings(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1])
}

/** Another program that holds the ledger from when a create arrives on. */
function holdAtCreate({ ledger, platform }: Story): Disposable & { end(): void } {
  let other: DatabaseSync | undefined
  platform.whenCreated = () => {
    if (other !== undefined) return
    other = new DatabaseSync(ledger, { timeout: 5_000 })
    other.exec('BEGIN IMMEDIATE')
  }
  const end = () => {
    if (other?.isOpen === true) other.close()
  }
  return { end, [Symbol.dispose]: end }
}

describe.skipIf(!mayMount())('row 14: a small disk of its own', () => {
  test('that fills up while the reply is on its way loses no id, and all is well when there is room', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform, workspace } = story
    using disk = mountDisk(workspace.path('disk'), '8m')
    const ledger = ['--ledger', `sqlite:${join(disk.folder, 'ledger.db')}`]
    const live = await story.start([...ledger, '--interval', '1s'])
    platform.whenCreated = () => disk.fill()
    story.writePipe('orders')
    const shown = await until('the reply to be dealt with', async () => {
      const resource = await live.resource('Pipe/orders')
      return resource?.status === 'Ready' || resource?.reason === 'OutcomeUnsaved' ? resource : undefined
    })
    const id = story.id('orders')
    expect([shown.pipeId, shown.message].join(' ')).toContain(id)
    disk.free()
    expect(await live.says('Pipe/orders', 'Ready')).toMatchObject({ pipeId: id })
    expect(await live.metric('pipewright_unsaved_outcomes')).toBe(0)
    await live.kill()
    const again = await story.start([...ledger, '--interval', '1s'])
    expect(await again.says('Pipe/orders', 'Ready')).toMatchObject({ pipeId: id })
    expect(story.posts()).toHaveLength(1)
  })
})
