import { describe, expect, test } from 'vitest'
import type { Client } from './client.ts'
import {
  during,
  HOUR,
  KAFKA,
  MINUTE,
  passes,
  POSTGRES,
  startOld,
  stateOf,
  tableNames,
  THREE_TABLES,
  withTable,
} from './edited-pipes.ts'
import { forgetKey } from '../../src/reconcile/operator/operate.ts'
import { on, play, story, want, type Step } from './story.ts'

/* Commands to stop and to start (facts 6.1): what is said of a pipe meanwhile, and of a service that takes them and does nothing. */

type Command = 'start' | 'stop'

/** From now on such a command is answered well, and nothing comes of it. @returns how often it was given since */
function ignore(client: Client, command: Command): () => number {
  let count = 0
  client.interfere(({ body }) => {
    if (body['command'] !== command) return undefined
    count += 1
    return { status: 200, error: '' }
  })
  return () => count
}

function isTold(client: Client, reason: string): boolean {
  return JSON.stringify(client.events).includes(`"reason":"${reason}"`)
}

/** It rests for its change, which is put off. */
function resting(policy?: Parameters<Client['want']>[1]): readonly Step[] {
  return [want(withTable('invoices'), policy), 'turn; state Paused', ON_CHANGE_IDLE]
}

const ON_CHANGE_IDLE = on(({ method, below }) =>
  method === 'PATCH' && below === '' ? { status: 424, error: 'FAILED_DEPENDENCY: idle' } : undefined,
)
const isReady =
  (reason: string): Step =>
  (client) =>
    expect(client.record()?.conditions?.Ready.reason).toBe(reason)
const notIll: Step = (client) => expect(isTold(client, 'UnhealthyState')).toBe(false)
const HEALTHY = { healthyStates: ['Running', 'Snapshot'] }

describe('a pipe that was stopped for its change', () => {
  test.each([undefined, HEALTHY])('is on its way for ten minutes, and unhealthy then (%j)', (policy) =>
    story(
      startOld(POSTGRES),
      ...resting(policy),
      'for 9 min; rests Paused',
      isReady('Changing'),
      notIll,
      'for 3 min; rests Paused',
      isReady('UnhealthyState'),
    ),
  )

  test('is on its way until it runs, by any reading on the way there', () =>
    story(
      startOld(POSTGRES),
      want(withTable('invoices'), HEALTHY),
      'settle; 3 passes; tables addresses, customers, invoices; shows Ready',
      notIll,
    ))

  test.each<readonly [string, readonly Step[]]>([
    ['where somebody else stopped it', ['state Paused; turn']],
    ['at once where it failed', [...resting(), 'state Failed; turn']],
  ])('is unhealthy %s', (_where, steps) => story(startOld(POSTGRES), ...steps, isReady('UnhealthyState')))

  test('is on its way too where policy.paused lets it start', () =>
    story(
      startOld(POSTGRES),
      'want POSTGRES paused=true; settle; want POSTGRES paused=false',
      (client) => ignore(client, 'start'),
      'for 8 min',
      isReady('Changing'),
      notIll,
    ))
})

const inVain: Step = (client) => ignore(client, 'stop')

const TWO_TABLES = THREE_TABLES.slice(0, 2)

interface Unheeded {
  readonly command: Command
  /** Shown meanwhile. `Pausing`: it was heeded at first. */
  readonly state: 'Running' | 'Paused' | 'Pausing'
  readonly first?: (client: Client) => unknown
  readonly wanted: Readonly<Parameters<Client['want']>>
  readonly after: unknown
}

const heeded = (client: Client): void => client.interfere(undefined)
const paused = (client: Client): void => client.server.setStates(client.id(), 'Paused')

const CHANGED = { wanted: [withTable('invoices')], after: [THREE_TABLES, 'Running', 'InSync'] } as const
const RESTING = { wanted: [POSTGRES, { paused: true }], after: [TWO_TABLES, 'Paused', 'InSync'] } as const
const STARTED = { command: 'start', state: 'Paused', after: [TWO_TABLES, 'Running', 'InSync'] } as const

const UNHEEDED: Readonly<Record<string, Unheeded>> = {
  'to stop for a change': { command: 'stop', state: 'Running', ...CHANGED },
  'to stop for a change, and it goes on pausing': { command: 'stop', state: 'Pausing', ...CHANGED },
  'to stop by policy.paused': { command: 'stop', state: 'Running', ...RESTING },
  'to stop by policy.paused, and it goes on pausing': { command: 'stop', state: 'Pausing', ...RESTING },
  'to start after a change': {
    ...STARTED,
    async first(client) {
      await client.want(...CHANGED.wanted)
      await client.reconcile()
    },
    wanted: [POSTGRES],
  },
  'to start by policy.paused': { ...STARTED, first: paused, wanted: [POSTGRES, { paused: false }] },
}

describe('a pipe that was told', () => {
  test.each(Object.entries(UNHEEDED))(
    '%s, in vain: that is told after ten minutes, and it is told again within each hour, for ever',
    async (_what, { command, state, first: begin, wanted, after }) => {
      await using client = await startOld(POSTGRES)
      await begin?.(client)
      await client.want(...wanted)
      if (state === 'Pausing') {
        await client.reconcile()
        client.server.setStates(client.id(), state)
      }
      const count = ignore(client, command)
      await during(client, 9 * MINUTE)
      expect(client.status()).toBe('Progressing')
      await during(client, 6 * MINUTE)
      expect([client.status(), client.reason()]).toEqual(['Drifted', 'Stalled'])
      expect(client.message()).toContain(`asked the service to ${command}`)
      expect(client.message()).toContain(`state is still ${state}`)
      expect(count()).toBeLessThanOrEqual(6)
      await client.restart()
      const [before, first, seen] = [count(), client.events.length, client.server.seen().length]
      await during(client, 2 * HOUR)
      expect(count() - before).toBeGreaterThanOrEqual(1)
      expect(count() - before).toBeLessThanOrEqual(2)
      expect([client.status(), client.reason()]).toEqual(['Drifted', 'Stalled'])
      // It is looked at every five minutes, and now and then once more.
      expect(client.server.seen().length - seen).toBeLessThan(50)
      // That it goes on is no news.
      const news = client.events
        .slice(first)
        .filter((event) => event.type === 'ConditionChanged' && event.condition === 'Synced')
      expect(news).toEqual([])
      if (state === 'Pausing') paused(client)
      else heeded(client)
      await during(client, 70 * MINUTE)
      await passes(client, 3)
      expect([tableNames(client), stateOf(client), client.reason()]).toEqual(after)
      expect(client.record()).toMatchObject({ change: undefined, command: undefined })
    },
  )

  test('to stop, in vain, is told again at once when a person asks', () =>
    story(
      startOld(POSTGRES),
      'want INVOICES',
      inVain,
      'for 15 min; is Stalled; calm; turn asked; sends stop; for 5 min',
      'tables addresses, customers, invoices; is InSync',
    ))

  test('to stop, and stops late, while it is not told again, is changed', () =>
    story(
      startOld(POSTGRES),
      'want INVOICES',
      inVain,
      'for 20 min; is Stalled; state Paused; for 10 min',
      'tables addresses, customers, invoices; runs; is InSync',
    ))

  test('to stop, in vain, for an edit that is taken back, is a person’s to stop then', () =>
    story(
      startOld(POSTGRES),
      'want INVOICES',
      inVain,
      'for 20 min; want POSTGRES; for 10 min; calm; state Paused; for 20 min; sends nothing; rests Paused',
    ))

  test('to stop, in vain, is told of a stream as well', () =>
    story(startOld(KAFKA), 'want KAFKA paused=true', inVain, 'for 15 min; is Stalled'))
})

test('a stop that does not show yet is not sent again because the size is changed', () =>
  story(startOld(KAFKA), async (client) => {
    const count = ignore(client, 'stop')
    await play(client, 'want KAFKA paused=true; for 5 s; want REPLICAS paused=true; for 45 s')
    await play(client, 'sends PATCH /scaling')
    expect(count()).toBe(1)
  }))

test('a pipe that stopped late, and that its change starts, is stopped again at once, also after a crash', () =>
  story(
    startOld(POSTGRES),
    'want INVOICES paused=true',
    inVain,
    'turn; state Pausing; for 15 min; is Stalled; calm; state Paused; killed after update',
    'restart; for 5 min; rests Paused; is InSync; tables addresses, customers, invoices',
  ))

test('a pipe that was stopped for its change is not forgotten until it runs, except if it is gone', async () => {
  const forgetting = 'want INVOICES; turn; sends stop; on PATCH /state: 503; 1 min; remove; turn'
  await story(startOld(POSTGRES), forgetting, async (client) => {
    expect((await forgetEdited(client)).message).toContain(
      'for a change, and has not seen it running since. Pipewright starts it soon',
    )
    await play(client, 'calm; for 10 min; sends start; runs')
    expect((await forgetEdited(client)).message).not.toContain('stopped')
  })
  await story(startOld(POSTGRES), forgetting, 'state gone; turn', async (client) =>
    expect((await forgetEdited(client)).message).toMatch(
      /^Forgot.* If it exists, start it in the console\.$/,
    ),
  )
})

function forgetEdited(client: Client) {
  return forgetKey(client.context(), 'Pipe/edited')
}
