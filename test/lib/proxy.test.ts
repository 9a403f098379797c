import { expect, test } from 'vitest'
import { proxyFor } from '../../src/lib/proxy.ts'

function proxy(name: string) {
  return { origin: `http://${name}.example:3128`, authorization: undefined, secrets: [], from: name }
}

const BOTH = { https: proxy('https'), http: proxy('http') }

test('each scheme has its own proxy, and none that of the other', () => {
  expect(proxyFor('https://api.example.com', { ...BOTH, noProxy: [] })).toBe(BOTH.https)
  expect(proxyFor('http://api.example.com', { ...BOTH, noProxy: [] })).toBe(BOTH.http)
  expect(proxyFor('https://api.example.com', { ...BOTH, https: undefined, noProxy: [] })).toBe(undefined)
})

test.each([
  'http://127.0.0.1:8123',
  'http://127.8.8.8',
  'http://localhost:80',
  'https://sandbox.localhost',
  'http://[::1]:8123',
])('nothing on this machine is reached through a proxy: %s', (origin) => {
  expect(proxyFor(origin, { ...BOTH, noProxy: [] })).toBe(undefined)
})

test.each([
  ['*', 'https://api.example.com', 'direct'],
  ['api.example.com', 'https://api.example.com', 'direct'],
  ['API.Example.com.', 'https://api.example.com', 'direct'],
  ['example.com', 'https://api.example.com', 'direct'],
  ['.example.com', 'https://api.example.com', 'direct'],
  ['.example.com', 'https://example.com', 'direct'],
  ['*.example.com', 'https://api.example.com', 'direct'],
  ['*.example.com', 'https://example.com', 'proxy'],
  ['example.com', 'https://notexample.com', 'proxy'],
  ['api.example.com', 'https://example.com', 'proxy'],
  ['api.example.com:443', 'https://api.example.com', 'direct'],
  ['api.example.com:8443', 'https://api.example.com', 'proxy'],
  ['api.example.com:8443', 'https://api.example.com:8443', 'direct'],
  ['*:80', 'http://api.example.com', 'direct'],
  ['*:80', 'https://api.example.com', 'proxy'],
  ['10.0.0.0/8', 'https://10.20.30.40', 'direct'],
  ['10.0.0.0/8', 'https://11.20.30.40', 'proxy'],
  ['10.0.0.0/8', 'https://ten.example.com', 'proxy'],
  ['0.0.0.0/0', 'https://192.0.2.7', 'direct'],
  ['10.0.0.0/8', 'https://[::ffff:10.0.0.1]', 'direct'],
  ['10.0.0.0/8', 'https://[::ffff:11.0.0.1]', 'proxy'],
  ['other.test', 'https://[::ffff:127.0.0.1]', 'direct'],
  ['other.test', 'https://[::ffff:128.0.0.1]', 'proxy'],
  ['10.0.0.0/99', 'https://10.20.30.40', 'proxy'],
  ['192.0.2.7', 'https://192.0.2.7', 'direct'],
  ['2001:db8::1', 'https://[2001:db8::1]', 'direct'],
  ['[2001:db8::1]:8443', 'https://[2001:db8::1]', 'proxy'],
  ['[2001:db8::1]:443', 'https://[2001:db8::1]', 'direct'],
  ['2001:0DB8:0:0:0:0:0:1', 'https://[2001:db8::1]', 'direct'],
  ['2001:db8::2', 'https://[2001:db8::1]', 'proxy'],
  ['2001:db8::/32', 'https://[2001:db8:1::1]', 'direct'],
  ['[2001:db8::]/32', 'https://[2001:db8:1::1]', 'direct'],
  ['2001:db8::/32', 'https://[2001:db9::1]', 'proxy'],
  ['fd00::/8', 'https://[fdab::1]:8443', 'direct'],
  ['::/0', 'https://[2001:db8::1]', 'direct'],
  ['::/0', 'https://192.0.2.7', 'proxy'],
  ['0.0.0.0/0', 'https://[2001:db8::1]', 'proxy'],
  ['2001:db8::/129', 'https://[2001:db8::1]', 'proxy'],
  ['2001:db8::', 'https://api.example.com', 'proxy'],
  ['.', 'https://api.example.com', 'proxy'],
])('NO_PROXY %s: %s %s', (entry, origin, how) => {
  const found = proxyFor(origin, { ...BOTH, noProxy: ['other.example', entry] })
  expect(found === undefined ? 'direct' : 'proxy').toBe(how)
})
