import { expect, test } from 'vitest'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import { createFindingRoom } from '../../src/manifest/validate/parse-options.ts'
import { parseFile } from '../../src/manifest/validate/parse-file.ts'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { findingsOf } from '../manifest/support.ts'

/* policy.onRemove let Pipewright delete after a manifest was removed. The hint names its successor. */

function hintsFor(kind: string): readonly (string | undefined)[] {
  const text = `apiVersion: pipewright/v1\nkind: ${kind}\nmetadata: {name: a}\npolicy:\n  onRemove: delete\nspec: {}\n`
  const file = parseFile(
    { file: 'a.yaml', hash: text, bytes: Buffer.from(text) },
    { profile: CLICKHOUSE_CLOUD, limits: DEFAULT_LIMITS, room: createFindingRoom() },
  )
  return findingsOf(file).flatMap(({ code, message, hint }) =>
    code === 'unknown-field' && message.includes('onRemove') ? [hint] : [],
  )
}

test.each(['Pipe', 'QueryEndpoint', 'Alert'])('a %s with policy.onRemove', (kind) => {
  expect(hintsFor(kind)).toEqual([
    'Remove it. To delete the resource, write policy.ensure: absent while the manifest is there.',
  ])
})
