import { parseSettingsFile } from '../../src/config/setting-sources.ts'
import { expect, test } from 'vitest'
import { readSettings } from '../../src/config/settings.ts'

/* The settings of the webhook. Its URL is a secret, and no message shows it. */

async function read(flags: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
  const reading = await readSettings({
    flags: { 'base-url': 'https://api.example.com', ...flags },
    env,
    needs: 'local',
    readFile: () => Promise.reject(new Error('there is no file')),
  })
  return 'settings' in reading
    ? { settings: reading.settings, problems: [] }
    : { settings: undefined, problems: reading.problems }
}

test('the URL is read, and does not print itself', async () => {
  const { settings } = await read({}, { PIPEWRIGHT_WEBHOOK_URL: 'https://hooks.example/planted?key=planted' })
  const url = settings?.webhookUrl
  expect(url !== undefined && 'url' in url && url.url.reveal()).toBe(
    'https://hooks.example/planted?key=planted',
  )
  expect(JSON.stringify(settings)).not.toContain('planted')
})

test.each([
  ['file:/etc/hooks/url', '/etc/hooks/url'],
  ['file:///etc/hooks/url', '/etc/hooks/url'],
  ['file:hooks/url', 'hooks/url'],
])('%s is a file', async (text, file) => {
  expect((await read({ 'webhook-url': text })).settings?.webhookUrl).toEqual({ file })
})

test.each([
  ['planted', /not an http or https URL/],
  ['ftp://hooks.example/planted', /not an http or https URL/],
  ['https://planted:planted@hooks.example/', /a user or a password/],
  ['http://hooks.example/planted', /plain http:/],
  ['file:', /it names no file/],
  ['file://host/path', /it names no file/],
])('%s is refused, and not shown', async (text, why) => {
  const { problems } = await read({ 'webhook-url': text })
  expect(problems).toMatchObject([{ from: '--webhook-url', why: expect.stringMatching(why) as unknown }])
  expect(JSON.stringify(problems).replaceAll(text, '')).not.toContain('planted')
  expect(problems[0]?.given).toBe(text.startsWith('file:') ? text : undefined)
})

test.each(['http://127.0.0.1:9000/hook', 'http://[::1]/hook', 'http://localhost/hook'])(
  '%s is on this machine',
  async (text) => {
    expect((await read({ 'webhook-url': text })).problems).toEqual([])
  },
)

test('plain http: is allowed with --allow-insecure-http', async () => {
  const flags = { 'webhook-url': 'http://hooks.example/', 'allow-insecure-http': 'true' }
  expect((await read(flags)).problems).toEqual([])
})

test.each([
  '{"webhook-url": "https://hooks.example/planted"}}',
  'webhook-url https://hooks.example/planted\ninterval: 5m',
  'webhook-url: !https://hooks.example/planted',
  '? https://hooks.example/planted\n: 5m',
  'webhook-url: "https://hooks.example/planted',
])('a broken settings file does not show it: %s', (content) => {
  const problems = parseSettingsFile('p.yaml', content)
  expect(problems).toContainEqual(expect.objectContaining({ why: expect.anything() }))
  expect(JSON.stringify(problems)).not.toContain('planted')
})
