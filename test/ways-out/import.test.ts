import { expect, test } from 'vitest'
import { pipeThere } from '../support/manifests.ts'
import { given } from './given.ts'
import { story } from './story.ts'

const ID = '9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d'
const IMPORT = `import Pipe/analytics-api ${ID} --service analytics`
const FIXTURE = { fixture: { pipes: [pipeThere(ID, 'orders')] } }

test('import prints what validates, with another secret than that of the Service; or JSON', () =>
  story(
    given([], FIXTURE),
    `${IMPORT} | name: analytics-api-source
    | pipewright: No secret is written. | # No secret is written here.
    | pipewright: Next, run "pipewright plan". It must say "adopt" for each manifest. …remove policy.adopt
    keep imported
    validate
    remove imported`,
    async ({ command }) => {
      const { stdout } = await command(...IMPORT.split(' '), '-o', 'json')
      const path = 'spec.source.kafka.credentials.password'
      expect(JSON.parse(stdout)).toMatchObject({ manifest: { policy: { adopt: ID } }, leftOut: [] })
      expect(stdout).toContain(path)
    },
  ))

test.each([
  ['another manifest adopts it', `write others policy.adopt=${ID}`, 'already: others.yaml:1.'],
  ['a Lock says that it is that of another key', `locked Pipe/others=${ID}`, 'already.'],
])('import is refused: %s', (_why, claim, says) =>
  story(
    given([], FIXTURE),
    `${claim}\n${IMPORT} => 1 | not: kind: Pipe | pipewright: import: ${ID} belongs to Pipe/others ${says}`,
  ),
)
