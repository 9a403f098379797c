import { parse } from 'yaml'
import { compareBody } from '../../../src/kinds/compare-body.ts'
import { PIPE_FIELDS } from '../../../src/kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { RecordedRequest } from '../../../src/sandbox/stored.ts'
import { type ChangeCell, type ChangeStory, STORIES, VICTIM } from './change-cells.ts'
import type { ChangeFacts } from './change-experiment.ts'

/** The laws, over one run: what is broken, in words; nothing, when all hold. */
export function brokenByChange({ story: name, action }: ChangeCell, facts: ChangeFacts): readonly string[] {
  const story: ChangeStory = STORIES[name]
  const { pipes, writes, record, shown } = facts
  const faults: string[] = []
  const expectThat = (holds: boolean, words: string) => {
    if (!holds) faults.push(words)
  }
  expectThat(facts.reached, 'the failpoint was not reached')
  const end = action === 'kill' ? 'SIGKILL' : 0
  expectThat(facts.ended === end, `the process ended with ${facts.ended}`)
  expectThat(facts.endedAfterwards === 0, `the last process ended with ${facts.endedAfterwards}`)

  const [pipe, ...more] = pipes
  const creates = writes.filter(({ operation }) => operation === 'createPipe')
  expectThat(pipe !== undefined && more.length === 0 && creates.length === 1, 'law 1: there is not one pipe')
  expectThat(
    writes.every(({ operation }) => operation !== 'deletePipe'),
    'law 4: something was deleted',
  )
  expectThat(pipe?.id === record?.remote?.id, 'law 2: its id is not the recorded one')
  expectThat(pipe?.state === story.state, `it is ${pipe?.state}, and must be ${story.state}`)
  const wanted = specOf(story.afterwards ?? story.after)
  const differences = pipe === undefined ? [] : compareBody(PIPE_FIELDS, { name: VICTIM, ...wanted }, pipe)
  expectThat(differences.length === 0, `it is not as the manifest asks: ${JSON.stringify(differences)}`)
  // For a minute a stop of ours may still arrive, and what it stops is to be started again.
  const { command } = record ?? {}
  const isWaitedFor = command?.isForChange === true && Date.now() - command.at < 61_000
  expectThat(command === undefined || isWaitedFor, `the ledger still says ${JSON.stringify(record?.command)}`)
  expectThat(record?.change === undefined, `the ledger still says ${JSON.stringify(record?.change)}`)
  expectThat(shown?.status === 'Ready', `it must be Ready, and is ${shown?.status}: ${shown?.message}`)
  expectThat(facts.writesOnceQuiet === 0, `law 8: ${facts.writesOnceQuiet} requests when all was quiet`)

  const refused = writes.filter(({ answer }) => answer?.fault === undefined && answer?.status !== 200)
  expectThat(refused.length === 0, `the service refused ${JSON.stringify(refused.map(({ body }) => body))}`)
  for (const table of story.adds ?? []) {
    const added = writes.filter((write) => adds(write, table))
    expectThat(added.length === 1, `the table ${table} was added ${added.length} times`)
  }
  return faults
}

function specOf(manifest: string): JsonObject {
  const { spec } = parse(manifest) as { readonly spec: JsonObject } // a text of these tests
  const { service: _, ...body } = spec
  return body
}

function adds({ operation, body, answer }: RecordedRequest, table: string): boolean {
  const isDone = operation === 'updatePipe' && answer?.done === true
  return isDone && JSON.stringify(body).includes(`"sourceTable":"${table}"`)
}
