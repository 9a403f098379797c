import { describe, expect, test } from 'vitest'
import { formatProblems } from '../../src/config/setting-problem.ts'
import { parseNotifications } from '../../src/config/notification-settings.ts'
import { readSettings } from '../../src/config/settings.ts'

const SECRETS = '/run/secrets'

function parse(text: string) {
  return parseNotifications('n.yaml', text, SECRETS)
}

function problems(text: string): readonly string[] {
  return parse(text).problems.map(({ from, given, why, right }) => `${from} ${given ?? ''}: ${why}; ${right}`)
}

const TARGET = 'targets:\n  - name: on-call\n    type: webhook\n    url: {file: /etc/url}\n'

describe('a file of targets', () => {
  test('may say everything', () => {
    const { targets } = parse(`
targets:
  - name: on-call
    type: webhook
    url: {secretRef: {name: notifications, key: url}}
    signingKey: {secretRef: {name: notifications, key: signing-key}}
    filter: {kinds: [Pipe, Alert], names: ['orders-*'], labels: {team: payments}, severity: critical}
    groupWait: 1m
    flapWindow: 1h
    rateLimit: 2/10s
`)
    expect(targets).toEqual([
      {
        name: 'on-call',
        type: 'webhook',
        url: { path: '/run/secrets/notifications/url', from: 'n.yaml:5:10' },
        signingKey: { path: '/run/secrets/notifications/signing-key', from: 'n.yaml:6:17' },
        filter: {
          kinds: ['Pipe', 'Alert'],
          names: ['orders-*'],
          labels: { team: 'payments' },
          severity: 'critical',
        },
        groupWaitMs: 60_000,
        flapWindowMs: 3_600_000,
        rateLimit: { requests: 2, windowMs: 10_000 },
      },
    ])
  })

  test('need not say much', () => {
    const { targets } = parse('targets: [{name: team, type: slack, url: {file: /etc/slack-url}}]')
    expect(targets).toEqual([
      {
        name: 'team',
        type: 'slack',
        url: { path: '/etc/slack-url', from: 'n.yaml:1:42' },
        signingKey: undefined,
        filter: { kinds: [], names: [], labels: {}, severity: 'info' },
        groupWaitMs: 10_000,
        flapWindowMs: 600_000,
        rateLimit: { requests: 10, windowMs: 60_000 },
      },
    ])
  })

  const WRONG: readonly (readonly [string, string, readonly (string | RegExp)[]])[] = [
    ['YAML that is none', 'targets: [', [/^n\.yaml:1:11 : it is not YAML \(\w+\); correct it$/]],
    ['nothing', '', ['n.yaml:1:1 : the file is not what it should be; give a mapping']],
    ['a list', '- 1\n', ['n.yaml:1:1 : the file is not what it should be; give a mapping']],
    [
      'no targets',
      'target: []\n',
      [
        'n.yaml:1:1 : targets is missing; give a list',
        'n.yaml:1:1 : there is no field "target" in the file; did you mean targets?',
      ],
    ],
    [
      'a misspelt field',
      `${TARGET}    filter: {kind: [Pipe]}\n`,
      ['n.yaml:5:14 : there is no field "kind" in targets[0].filter; did you mean kinds?'],
    ],
    [
      'a kind that is none',
      `${TARGET}    filter: {kinds: [Pipes]}\n`,
      [
        'n.yaml:5:22 : targets[0].filter.kinds[0] is not one of the possible values; give Service, Pipe, QueryEndpoint, Alert; did you mean Pipe?',
      ],
    ],
    [
      'a severity that is none',
      `${TARGET}    filter: {severity: high}\n`,
      [
        'n.yaml:5:24 : targets[0].filter.severity is not one of the possible values; give info, warning, critical',
      ],
    ],
    [
      'a type that is none',
      TARGET.replace('webhook', 'email'),
      ['n.yaml:3:11 : targets[0].type is no known type; give webhook or slack'],
    ],
    [
      'a signing key for Slack',
      `${TARGET.replace('webhook', 'slack')}    signingKey: {file: /k}\n`,
      [/n\.yaml:5:5 : there is no field "signingKey" in targets\[0\]/],
    ],
    [
      'a duration without a unit',
      `${TARGET}    groupWait: '10'\n`,
      [
        'n.yaml:5:16 : targets[0].groupWait: it has no unit; give a duration from 0ms to 1h, such as 30s or 1m30s',
      ],
    ],
    [
      'a limit that is none',
      `${TARGET}    rateLimit: often\n`,
      [/targets\[0\]\.rateLimit: it is not N\/D; give/],
    ],
    [
      'a relative file',
      TARGET.replace('/etc/url', 'url'),
      [/n\.yaml:4:17 : targets\[0\]\.url\.file: it is not absolute; give a path from the root/],
    ],
    [
      'a name twice',
      `${TARGET}${TARGET.replace('targets:\n', '')}`,
      ['n.yaml:5:11 on-call: another target has this name; give each a name of its own'],
    ],
    [
      'a name that is no label',
      TARGET.replace('on-call', 'On Call'),
      [/n\.yaml:2:11 : targets\[0\]\.name: it is no plain name; give lower-case letters/],
    ],
    [
      'all at once',
      'targets:\n  - {name: A, type: slack}\n  - {name: b, type: webhook, url: {file: b}}\n',
      [
        /n\.yaml:2:12 : targets\[0\]\.name/,
        /n\.yaml:2:5 : targets\[0\]\.url is missing; give \{secretRef/,
        /n\.yaml:3:42 : targets\[1\]\.url\.file: it is not absolute/,
      ],
    ],
  ]

  test.each(WRONG)('is refused with %s', (_, text, expected) => {
    const told = problems(text)
    expect(told).toHaveLength(expected.length)
    for (const one of expected) {
      const found = told.some((line) => (typeof one === 'string' ? line === one : one.test(line)))
      expect(found, `${String(one)}\nin\n${told.join('\n')}`).toBe(true)
    }
  })

  const PLANTED = 'https://hooks.example/T0/planted-secret'
  test.each([
    ['as the address', `targets: [{name: a, type: slack, url: ${PLANTED}}]`],
    ['as a field of the reference', `targets: [{name: a, type: slack, url: {value: ${PLANTED}}}]`],
    ['as a name of a field', `targets: [{name: a, type: slack, '${PLANTED}': 1}]`],
    ['as the signing key', `${TARGET}    signingKey: planted-secret\n`],
    ['as a file', `targets: [{name: a, type: slack, url: {file: ${PLANTED}}}]`],
    ['beside YAML that is wrong', `targets: [{name: a, url: &x '${PLANTED}', url: *planted-secret}]`],
    ['as a target', `targets: [${PLANTED}]`],
  ])('shows no secret that stands %s', (_, text) => {
    const { problems: found } = parse(text)
    expect(found.length).toBeGreaterThan(0)
    expect(formatProblems(found)).not.toContain('planted-secret')
  })
})

describe('--notifications', () => {
  test('names a file whose problems come with all others', async () => {
    const reading = await readSettings({
      flags: { notifications: 'n.yaml', concurrency: '0', 'credentials-dir': '/c' },
      env: {},
      readFile: async () => 'targets: [{name: a}]',
    })
    const told = 'problems' in reading ? reading.problems.map(({ from }) => from) : []
    expect(told).toEqual(['--concurrency', 'n.yaml:1:11'])
  })

  test('must name a file that can be read', async () => {
    const reading = await readSettings({
      flags: {},
      env: { PIPEWRIGHT_NOTIFICATIONS: 'gone.yaml' },
      readFile: async () => Promise.reject(new Error('ENOENT')),
    })
    expect(reading).toMatchObject({ problems: [{ from: 'PIPEWRIGHT_NOTIFICATIONS', given: 'gone.yaml' }] })
  })

  test('refers to secrets of the directory of the credentials', async () => {
    const reading = await readSettings({
      flags: { notifications: 'n.yaml', 'credentials-dir': '/c' },
      env: {},
      readFile: async () => 'targets: [{name: a, type: slack, url: {secretRef: {name: n, key: k}}}]',
    })
    expect(reading).toMatchObject({ settings: { notifications: [{ url: { path: '/c/n/k' } }] } })
  })
})
