import { expect, test } from 'vitest'
import { platformName } from '../../src/cli/compose.ts'
import { story } from './story.ts'

test.each([
  ['an address', 'https://api.example/base', 'https://api.example/base'],
  ['with the slash that means nothing', 'https://api.example/', 'https://api.example'],
  ['a port of somewhere else', 'https://api.example:8443', 'https://api.example:8443'],
  ['a port of this machine says little', 'http://127.0.0.1:4711', 'http://localhost'],
  ['none: there is nothing to compare', undefined, undefined],
])('a platform is known by %s', (_, baseUrl, name) => {
  expect(platformName({ sandbox: false, baseUrl })).toBe(name)
})

const ELSEWHERE = '--base-url http://localhost:1/elsewhere'

test('a ledger with records is refused to another platform until it is untied', () =>
  story(
    'orders',
    `apply
    ${['apply', 'plan', 'adopt Pipe/orders {orders}']
      .map(
        (
          command,
        ) => `${command} ${ELSEWHERE} => 1 | used with http://localhost, not http://localhost/elsewhere
      | pipewright forget --platform`,
      )
      .join('\n')}
    forget --platform ${ELSEWHERE} | no longer belongs to http://localhost.
    apply ${ELSEWHERE} => 1 | not: belongs to another platform
    apply => 1 | used with http://localhost/elsewhere, not http://localhost.
    forget --platform -o json | "result": "done",
    posts 1`,
  ))
