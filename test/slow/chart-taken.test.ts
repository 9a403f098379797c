import { describe, expect, test } from 'vitest'
import { GOOD, HELMS, overlay, renderValues, validated } from './support/chart.ts'
import { folderForFile } from '../support/folders.ts'

/*
 * Values that Kubernetes takes, and that a form which is too narrow would refuse.
 */

const folder = folderForFile()

const FIELD = { fieldRef: { fieldPath: 'status.podIP' } }

const TAKEN: readonly (readonly [string, object])[] = [
  ...['600e6', '6E8', '628974848000m', '0.5P', '1Ei', '1.Gi', 629145600, '614400Ki'].map(
    (memory) => [`a memory of ${memory}`, { resources: { limits: { memory } } }] as const,
  ),
  ...['.5', '5e-1', '500000u', '500000000n', '1.', 0.5].map(
    (cpu) => [`processors: ${cpu}`, { resources: { requests: { cpu: '500m' }, limits: { cpu } } }] as const,
  ),
  [
    'hosts whose last part begins with a digit',
    {
      platform: { baseUrl: 'https://gateway.3scale/v1', alertsBaseUrl: 'https://0a.0b' },
      proxy: { httpsProxy: 'http://squid.3scale:3128', httpProxy: 'http://3proxy:3128/' },
      settings: { 'repository-url': 'https://gitea.3scale/a/b/src/commit/{revision}/{file}#L{line}' },
    },
  ],
  ['a volume of which another file of values leaves nothing', { source: { volume: { emptyDir: null } } }],
  ['a look at the repository once a year', { source: { git: { period: '8760h' } } }],
  ['an empty value beside the place of one', { extraEnv: [{ name: 'A', value: '', valueFrom: FIELD }] }],
  ['an address of no names', { podSpecExtra: { hostAliases: [{ ip: '2001:db8::1', hostnames: null }] } }],
  [
    'a hook that another file of values takes away',
    { containerExtra: { lifecycle: { preStop: { sleep: null, exec: { command: ['true'] } } } } },
  ],
]

describe.each(HELMS)('%s', (helm) => {
  test.each(TAKEN)('takes %s', async (_what, values) => {
    const rendered = await renderValues(folder, overlay(GOOD, values), { helm })
    expect(await validated(folder, rendered)).toContain('kind: StatefulSet')
  })

  test('takes a kind of volume away that another file of values gives', async () => {
    const volume = { persistentVolumeClaim: null, nfs: { server: 'files.example', path: '/pipes' } }
    const rendered = await renderValues(folder, overlay(GOOD, { source: { configMap: '', volume } }), {
      helm,
    })
    expect(await validated(folder, rendered)).toContain('nfs:')
    expect(rendered).not.toContain('persistentVolumeClaim:')
  })
})
