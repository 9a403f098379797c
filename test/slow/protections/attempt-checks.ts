import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { until } from '../../support/until.ts'
import type { Combination } from '../support/combination.ts'
import { experiment } from '../support/experiment.ts'
import { broken } from '../support/crash-fate.ts'
import { creates, stopInTheMiddle } from '../support/stopping.ts'
import { twoWriters } from '../support/two-writers.ts'
import { fileOf } from './checkout.ts'
import type { Check } from './mutation.ts'

/* Checks of one attempt to create: its intent, its request and its outcome. */

/** A cell of the crash matrix. */
export function cell(combination: Combination): Check {
  const { action, at, reply } = combination
  return {
    name: `matrix: ${action} ${at}, the reply: ${reply}`,
    async run({ main, cache }) {
      try {
        const { facts } = await experiment(combination, { main, cache, successor: 'child' })
        return broken(combination, facts)
      } catch (error) {
        // It never becomes quiet.
        return [error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)]
      }
    },
  }
}

export function frozenDaemon(): Check {
  return {
    name: 'a daemon that froze before its intent goes on beside another',
    async run({ main }) {
      const { pipes, posts } = await twoWriters({ main })
      return posts === 1 && pipes.length === 1 ? [] : [`law 1: ${pipes.length} pipes, ${posts} creates`]
    },
  }
}

export function stoppedInTheMiddle(): Check {
  return {
    name: 'SIGTERM in the middle of a create',
    async run({ main }) {
      const { recorded, pipes, afterwards } = await stopInTheMiddle({
        command: 'run',
        pipes: 1,
        settings: [],
        latencyMs: 1_500,
        main,
        async stop(program, platform) {
          await until('the create to be on its way', () => creates(platform) === 1)
          program.signal('SIGTERM')
        },
      })
      return recorded !== undefined && pipes === 1 ? [] : [`law 2: no id is recorded, ${afterwards.status}`]
    },
  }
}

/** The rule itself, since the decision before it lets nothing come so far. */
export function secondIntent(): Check {
  return {
    name: 'openIntent on a record whose intent is open',
    async run({ dir }) {
      const program = `
        const { openIntent } = await import(${JSON.stringify(pathToFileURL(fileOf(dir, 'openIntent')))})
        const record = { key: 'Pipe/orders', intent: { id: 'first', attempt: 1, state: 'open' } }
        try { openIntent(record, { intentId: 'second' }); console.log('opened') } catch (error) { console.log(error.name) }
      `
      const answer = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        encoding: 'utf8',
      })
      return answer.trim() === 'IntentRefused' ? [] : [`law 1: a second intent was ${answer.trim()}`]
    },
  }
}
