import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import { formatProblems, type SettingProblem } from '../../src/config/setting-sources.ts'
import { SETTINGS, readSettings, type Settings, type SettingsInput } from '../../src/config/settings.ts'

/** Reads with a file `p.yaml`, which counts only when it is named. */
async function read(input: Partial<SettingsInput> & { readonly file?: string }) {
  const { file = '', flags = {}, env = {}, needs = 'local' } = input
  return readSettings({ flags, env, needs, readFile: async () => file })
}

async function settingsOf(input: Parameters<typeof read>[0]): Promise<Settings> {
  const reading = await read(input)
  if ('problems' in reading) throw new Error(formatProblems(reading.problems))
  return reading.settings
}

async function problemsOf(input: Parameters<typeof read>[0]): Promise<readonly SettingProblem[]> {
  const reading = await read(input)
  return 'problems' in reading ? reading.problems : []
}

async function noPlatform(flags: SettingsInput['flags']) {
  const problems = await problemsOf({ flags, needs: 'platform' })
  return problems.find(({ why }) => why.includes('needs the platform'))
}

describe('defaults', () => {
  test('are those of design §8', async () => {
    expect(await settingsOf({})).toStrictEqual({
      config: undefined,
      typed: [],
      profile: DEFAULT,
      manifests: 'manifests',
      baseUrl: undefined,
      alertsBaseUrl: undefined,
      healthyStates: undefined,
      alertsTokenFile: '/etc/pipewright/credentials/alerts/token',
      credentialsDir: '/etc/pipewright/credentials',
      secretsDir: '/etc/pipewright/secrets',
      ledger: 'sqlite:.pipewright/ledger.db',
      ledgerInit: 'auto',
      leaseDurationMs: 15_000,
      listen: { host: '127.0.0.1', port: 8080 },
      metricsListen: undefined,
      allowedHosts: undefined,
      adminTokenFile: undefined,
      server: undefined,
      publicUrl: undefined,
      webhookUrl: undefined,
      webhookSecretFile: undefined,
      repositoryUrl: undefined,
      intervalMs: 300_000,
      apiBudget: { requests: 10, windowMs: 10_000 },
      requestTimeoutMs: 20_000,
      concurrency: 8,
      maxCreates: 25,
      namedResources: 1_000,
      shutdownGraceMs: 25_000,
      logLevel: 'info',
      logFormat: undefined,
      sandbox: false,
      caFile: undefined,
      clientCertFile: undefined,
      clientKeyFile: undefined,
      proxies: { https: undefined, http: undefined, noProxy: [] },
      allowInsecureHttp: false,
      allowInsecureTls: false,
    })
  })

  test('of the sandbox of another profile are its own', async () => {
    expect(await settingsOf({ flags: { sandbox: true, profile: 'clickhouse-cloud' } })).toMatchObject({
      manifests: 'examples/clickhouse-cloud',
      ledger: 'sqlite:.pipewright/clickhouse-cloud/sandbox-ledger.db',
      credentialsDir: '.pipewright/clickhouse-cloud/credentials',
      secretsDir: '.pipewright/clickhouse-cloud/secrets',
      adminTokenFile: '.pipewright/clickhouse-cloud/admin-token',
    })
  })

  test.each([
    ['clickhouse-cloud', 'https://api.clickhouse.cloud/v1', 'https://api.clickhouse.cloud'],
    ['clickhouse-cloud', 'https://api.clickhouse.cloud/v1/', 'https://api.clickhouse.cloud'],
    ['clickhouse-cloud', 'https://api.clickhouse.cloud', 'https://api.clickhouse.cloud'],
    ['clickhouse-cloud', 'https://proxy.example/cloud/v1', 'https://proxy.example/cloud'],
    ['clickhouse-cloud', 'https://proxy.example/v10', 'https://proxy.example/v10'],
    ['default', 'https://api.example/v1', 'https://api.example/v1'],
  ])('with profile %s the address %s is %s', async (profile, given, baseUrl) => {
    expect(await settingsOf({ flags: { profile, baseUrl: given } })).toMatchObject({ baseUrl })
  })

  test('a profile that there is not is refused, with the one that was meant', async () => {
    const reading = await readSettings({
      flags: { profile: 'clickhouse' },
      env: {},
      needs: 'local',
      readFile: () => Promise.reject(new Error('none')),
    })
    expect(reading).toMatchObject({
      problems: [{ right: expect.stringContaining('give default, clickhouse-cloud') }],
    })
  })

  test('of the sandbox stay within .pipewright, away from the real ledger', async () => {
    expect(await settingsOf({ flags: { sandbox: true } })).toMatchObject({
      sandbox: true,
      credentialsDir: '.pipewright/credentials',
      secretsDir: '.pipewright/secrets',
      alertsTokenFile: '.pipewright/credentials/alerts/token',
      adminTokenFile: '.pipewright/admin-token',
      ledger: 'sqlite:.pipewright/sandbox-ledger.db',
    })
  })

  test('of the sandbox give way to what is given', async () => {
    const flags = { sandbox: true, ledger: 'memory:', 'credentials-dir': 'c' } as const
    expect(await settingsOf({ flags })).toMatchObject({
      ledger: 'memory:',
      alertsTokenFile: 'c/alerts/token',
    })
  })

  test('come frozen', async () => {
    const settings = await settingsOf({})
    for (const part of [settings, settings.listen, settings.apiBudget])
      expect(Object.isFrozen(part)).toBe(true)
  })
})

describe('precedence', () => {
  const file = 'concurrency: 2\n'
  test.each([
    ['the default, when nothing is said', {}, {}, 8],
    ['the file over the default', { config: 'p.yaml' }, {}, 2],
    ['the file that a variable names', {}, { PIPEWRIGHT_CONFIG: 'p.yaml' }, 2],
    ['the variable over the file', { config: 'p.yaml' }, { PIPEWRIGHT_CONCURRENCY: '3' }, 3],
    [
      'the flag over the variable',
      { concurrency: '4', config: 'p.yaml' },
      { PIPEWRIGHT_CONCURRENCY: '3' },
      4,
    ],
    ['not an empty variable, which counts as none', {}, { PIPEWRIGHT_CONCURRENCY: ' ' }, 8],
  ])('takes %s', async (_, flags, env, expected) => {
    expect((await settingsOf({ flags, env, file })).concurrency).toBe(expected)
  })

  test('a problem in a source that another outranks is told all the same', async () => {
    const problems = await problemsOf({ flags: { concurrency: '4' }, env: { PIPEWRIGHT_CONCURRENCY: 'x' } })
    expect(problems).toMatchObject([{ from: 'PIPEWRIGHT_CONCURRENCY', given: 'x' }])
  })

  test('a switch can be turned off in a stronger source', async () => {
    const env = { PIPEWRIGHT_SANDBOX: 'off' }
    expect((await settingsOf({ flags: { config: 'p' }, env, file: 'sandbox: true' })).sandbox).toBe(false)
  })

  test('flags may be named as commander names them', async () => {
    const settings = await settingsOf({ flags: { maxCreates: '7', allowInsecureHttp: true, output: 'json' } })
    expect(settings).toMatchObject({ maxCreates: 7, allowInsecureHttp: true })
  })
})

describe('values', () => {
  test.each<[flag: string, text: string, expected: Partial<Settings>]>([
    ['base-url', 'https://api.example.com/', { baseUrl: 'https://api.example.com' }],
    ['base-url', 'https://api.example.com/a/b//', { baseUrl: 'https://api.example.com/a/b' }],
    ['base-url', 'http://127.0.0.1:9000', { baseUrl: 'http://127.0.0.1:9000' }],
    ['base-url', 'http://[::1]:9000', { baseUrl: 'http://[::1]:9000' }],
    ['base-url', 'http://localhost', { baseUrl: 'http://localhost' }],
    ['alerts-base-url', 'HTTPS://Alerts.example', { alertsBaseUrl: 'https://alerts.example' }],
    ['ledger', 'sqlite:/var/l.db', { ledger: 'sqlite:/var/l.db' }],
    ['ledger', 'sqlite:./~/l.db', { ledger: 'sqlite:./~/l.db' }],
    ['ledger', "sqlite:./file:/o'neil 100%/l%20.db", { ledger: "sqlite:./file:/o'neil 100%/l%20.db" }],
    ['secrets-dir', '/a~b/~c/100%/5$/%20', { secretsDir: '/a~b/~c/100%/5$/%20' }],
    ['ledger-init', 'never', { ledgerInit: 'never' }],
    ['listen', '0.0.0.0:0', { listen: { host: '0.0.0.0', port: 0 } }],
    ['listen', '[::1]:8080', { listen: { host: '::1', port: 8080 } }],
    ['listen', '[::FFFF:10.0.0.1]:8080', { listen: { host: '::FFFF:10.0.0.1', port: 8080 } }],
    ['listen', 'localhost:65535', { listen: { host: 'localhost', port: 65_535 } }],
    ['metrics-listen', '0.0.0.0:9090', { metricsListen: { host: '0.0.0.0', port: 9_090 } }],
    ['allowed-hosts', 'Pipes.Example.com, .svc,a', { allowedHosts: ['pipes.example.com', '.svc', 'a'] }],
    ['allowed-hosts', '*', { allowedHosts: ['*'] }],
    ['interval', '1h30m', { intervalMs: 5_400_000 }],
    ['api-budget', '600/1m', { apiBudget: { requests: 600, windowMs: 60_000 } }],
    ['request-timeout', '500ms', { requestTimeoutMs: 500 }],
    ['max-creates', '0', { maxCreates: 0 }],
    ['named-resources', '20', { namedResources: 20 }],
    ['log-level', 'silent', { logLevel: 'silent' }],
  ])('--%s %s', async (flag, text, expected) => {
    expect(await settingsOf({ flags: { [flag]: text } })).toMatchObject(expected)
  })

  test.each<[flag: string, text: string, why: string]>([
    ['manifests', '', 'empty'],
    ['base-url', 'api.example.com', 'not an http or https URL'],
    ['base-url', 'ftp://api.example.com', 'not an http or https URL'],
    ['base-url', 'https://', 'not an http or https URL'],
    ['base-url', 'http://api.example.com', 'plain http:'],
    ['base-url', 'http://localhost.example.com', 'plain http:'],
    ['ledger', 'ledger.db', 'no such kind'],
    ['ledger', 'sqlite:', 'names no file'],
    ['ledger', 'sqlite::memory:', 'not the path'],
    ['ledger', 'sqlite://ledger.db', 'not the path'],
    ['ledger', 'sqlite:l.db?mode=ro', 'options after ? are not supported'],
    ['manifests', '~', '~ is not replaced here'],
    ['manifests', '/srv/${ENV}/m', '${ENV} is not replaced here'],
    ['credentials-dir', '%h/x', '%h is not replaced here'],
    ['ledger', 'sqlite:file:/x', 'it begins with file:'],
    ['ledger', 'sqlite: /x', 'a blank'],
    ['manifests', "'/x'", "' is not replaced here"],
    ['manifests', 'https://git.example/x', 'it begins with https://'],
    ['webhook-url', 'file:~/url', '~ is not replaced here'],
    ['ledger-init', 'allways', 'not one of'],
    ['listen', '8080', 'no host'],
    ['listen', 'localhost', 'no port'],
    ['listen', '::1:8080', 'brackets'],
    ['listen', '[]:8080', 'no IPv6 address'],
    ['listen', '[fe80::1%eth0]:8080', 'cannot have a zone'],
    ['listen', '127.0.0.1:70000', 'more than 65535'],
    ['listen', '127.0.0.1:x', 'not HOST:PORT'],
    ['allowed-hosts', '', 'empty'],
    ['allowed-hosts', 'a,pipes.example.com:8080', '"pipes.example.com:8080" is not the name of a host'],
    ['allowed-hosts', '*.example.com', 'not the name of a host'],
    ['interval', '300', 'no unit'],
    ['interval', '10ms', 'shorter than 1s'],
    ['interval', '2d', 'longer than 1d'],
    ['api-budget', '10', 'not N/D'],
    ['api-budget', '0/10s', 'less than 1'],
    ['api-budget', '1/1s/1', 'not N/D'],
    ['concurrency', '1e3', 'not a whole number'],
    ['concurrency', '257', 'more than 256'],
    ['max-creates', '-1', 'less than 0'],
    ['log-level', 'debugg', 'not one of'],
    ['sandbox', 'maybe', 'not true or false'],
    ['repository-url', 'github.com/acme/{file}', 'not an http or https URL'],
    ['repository-url', 'https://github.com/acme/pipes', 'does not have {file}'],
    ['repository-url', 'https://github.com/acme/{path}/{file}', '{path} is not one of'],
  ])('--%s %j is refused: %s', async (flag, text, why) => {
    const problems = await problemsOf({ flags: { [flag]: text } })
    expect(problems).toMatchObject([{ from: `--${flag}`, given: text }])
    expect(problems[0]?.why).toContain(why)
    expect(problems[0]?.right).not.toBe('')
  })

  test.each([
    ['credentials', 'https://user:hunter2@api.example.com', 'carries credentials'],
    ['a query', 'https://api.example.com?token=hunter2', 'has a query'],
    ['a fragment', 'https://api.example.com#hunter2', 'has a fragment'],
    ['credentials, and is no URL', 'https://user:hunter2@api example', 'not an http or https URL'],
  ])('a URL with %s is refused, and not shown', async (_, url, why) => {
    const problems = await problemsOf({
      flags: { 'base-url': url },
      env: { PIPEWRIGHT_ALERTS_BASE_URL: url },
    })
    expect(problems).toHaveLength(2)
    expect(formatProblems(problems)).toContain(why)
    expect(formatProblems(problems)).not.toContain('hunter2')
  })

  test('the nearest word is offered', async () => {
    expect((await problemsOf({ flags: { 'log-level': 'INFOS' } }))[0]?.right).toContain('did you mean info?')
  })

  test('a flag without its value is a problem', async () => {
    const problems = await problemsOf({ flags: { interval: true } })
    expect(problems).toMatchObject([{ why: 'it has no value', right: 'give D' }])
  })
})

describe('rules', () => {
  test.each<[why: string, flags: Record<string, string | true>, ok: boolean]>([
    [
      'plain http: to a stranger, allowed',
      { 'base-url': 'http://x.example', 'allow-insecure-http': true },
      true,
    ],
    ['the sandbox and another platform', { sandbox: true, 'base-url': 'https://x.example' }, false],
    ['the sandbox and other alerts', { sandbox: true, 'alerts-base-url': 'https://x.example' }, false],
    ['a timeout just within the grace', { 'request-timeout': '22999ms' }, true],
    ['a timeout that leaves exactly 2 s', { 'request-timeout': '23s' }, false],
    ['a grace too short for the timeout', { 'shutdown-grace': '10s' }, false],
    ['a ledger that forgets, in the sandbox', { sandbox: true, ledger: 'memory:' }, true],
    ['a ledger that forgets, for tests', { ledger: 'memory:', 'base-url': 'http://127.0.0.1:1' }, true],
    ['a ledger that forgets, for real', { ledger: 'memory:', 'base-url': 'https://x.example' }, false],
    ['both long', { 'request-timeout': '60s', 'shutdown-grace': '70s' }, true],
  ])('%s', async (_, flags, ok) => {
    expect(await problemsOf({ flags })).toHaveLength(ok ? 0 : 1)
  })

  test('the problem of a short grace says what must fit into what, and blames who spoke', async () => {
    const [problem] = await problemsOf({ env: { PIPEWRIGHT_SHUTDOWN_GRACE: '10s' } })
    expect(problem).toMatchObject({
      from: 'PIPEWRIGHT_SHUTDOWN_GRACE',
      given: '10s',
    })
    expect(problem?.why).toContain('--request-timeout (20s)')
    expect(problem?.right).toBe('make --shutdown-grace more than 2s longer than --request-timeout')
  })

  test.each([
    'admin-token-file',
    'alerts-token-file',
    'webhook-url',
    'webhook-secret-file',
    'client-key-file',
  ])('no file of --%s is below --secrets-dir', async (flag) => {
    const file = '/etc/pipewright/secrets/a/key'
    const text = flag === 'webhook-url' ? `file:${file}` : file
    const flags = { 'client-cert-file': '/tls/client.pem', 'client-key-file': '/tls/key', [flag]: text }
    expect(await problemsOf({ flags })).toMatchObject([
      { given: file, why: expect.stringContaining('below --secrets-dir') as unknown },
    ])
  })

  test('the platform is needed only by those that ask for it', async () => {
    expect(await noPlatform({})).toMatchObject({ from: '--base-url' })
    expect(await noPlatform({ interval: '5' })).toMatchObject({ from: '--base-url' })
    expect(await noPlatform({ sandbox: true })).toBeUndefined()
    expect(await noPlatform({ 'base-url': 'https://x.example' })).toBeUndefined()
    expect(await noPlatform({ 'base-url': 'nonsense' })).toBeUndefined()
  })
})

describe('unknown variables', () => {
  test.each([
    ['PIPEWRIGHT_MANIFEST', 'manifests', 'did you mean PIPEWRIGHT_MANIFESTS?'],
    ['PIPEWRIGHT_LEDGER_INT', 'never', 'did you mean PIPEWRIGHT_LEDGER_INIT?'],
    ['PIPEWRIGHT_XYZZYPLUGHFOO', '', 'remove it'],
  ])('%s is a problem', async (variable, value, right) => {
    const problems = await problemsOf({ env: { [variable]: value } })
    expect(problems).toStrictEqual([{ from: variable, why: 'there is no such variable', right }])
  })

  test('those that Kubernetes sets for services are none of ours', async () => {
    const env = {
      PIPEWRIGHT_SERVICE_HOST: '10.0.0.1',
      PIPEWRIGHT_SERVICE_PORT: '80',
      PIPEWRIGHT_SERVICE_PORT_HTTP: '80',
      PIPEWRIGHT_PORT: 'tcp://10.0.0.1:80',
      PIPEWRIGHT_PORT_80_TCP: 'tcp://10.0.0.1:80',
      PIPEWRIGHT_PORT_80_TCP_PROTO: 'tcp',
      PIPEWRIGHT_PORT_80_TCP_PORT: '80',
      PIPEWRIGHT_PORT_80_TCP_ADDR: '10.0.0.1',
      PIPEWRIGHT_METRICS_SERVICE_HOST: '10.0.0.2',
      PIPEWRIGHT_METRICS_PORT: 'tcp://10.0.0.2:80',
      PIPEWRIGHTER: 'x',
      HOME: '/',
    }
    expect(await problemsOf({ env })).toEqual([])
  })
})

test('all problems of all sources are told at once, each with its place', async () => {
  const problems = await problemsOf({
    flags: { concurrency: 'many', config: 'p.yaml' },
    env: { PIPEWRIGHT_LISTEN: 'here', PIPEWRIGHT_INTERVALL: '5m' },
    file: 'interval: 5\n\nlog-levle: info\n',
  })
  expect(formatProblems(problems).split('\n')).toEqual([
    '5 problems:',
    '  PIPEWRIGHT_INTERVALL: there is no such variable; did you mean PIPEWRIGHT_INTERVAL?',
    '  p.yaml:3: there is no setting "log-levle"; did you mean log-level?',
    '  --concurrency "many": it is not a whole number; give a whole number from 1 to 256',
    '  PIPEWRIGHT_LISTEN "here": it has no port; give HOST:PORT, such as 127.0.0.1:8080, or [::]:8080 for every address',
    '  p.yaml:1 interval "5": it has no unit; give a duration from 1s to 1d, such as 30s or 1m30s',
  ])
})

test('every setting has a flag, a variable and words of its own', () => {
  for (const part of ['flag', 'env', 'describe'] as const) {
    expect(new Set(SETTINGS.map((setting) => setting[part])).size).toBe(SETTINGS.length)
  }
  for (const { flag, env } of SETTINGS) {
    expect(env).toBe(`PIPEWRIGHT_${flag.toUpperCase().replaceAll('-', '_')}`)
  }
  expect(
    SETTINGS.filter((setting) => setting.placeholder === undefined).map((setting) => setting.flag),
  ).toEqual(['sandbox', 'allow-insecure-http', 'allow-insecure-tls'])
})
