import { expect, test } from 'vitest'
import { connectWords, isClientCertificateRefused, proxyWords } from '../../src/lib/connect-words.ts'
import { Secret } from '../../src/lib/secret.ts'

test.each([
  ['ECONNREFUSED', 'it was refused'],
  ['EAI_AGAIN', 'does not resolve'],
  ['ETIMEOUT', 'was not resolved in time'],
  ['SELF_SIGNED_CERT_IN_CHAIN', '--ca-file'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', '--ca-file'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another host'],
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', '--client-cert-file'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', '--client-cert-file'],
  ['CERT_SIGNATURE_FAILURE', '--ca-file'],
  ['CERT_NOT_YET_VALID', 'check the clock'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
  ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', '--client-cert-file'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS failed'],
  ['TlsFileError', 'check --ca-file'],
  ['EHOSTUNREACH', 'it could not be made'],
])('%s: %s', (code, says) => {
  expect(connectWords(code)).toContain(says)
})

test.each([
  [[], '(ETIMEDOUT)'],
  [['10.0.0.1'], '(ETIMEDOUT)'],
  [['10.0.0.1', '10.0.0.2'], '(ETIMEDOUT at 10.0.0.1, 10.0.0.2)'],
  [['a', 'b', 'c', 'd'], '(ETIMEDOUT at a, b, c, d)'],
  [['a', 'b', 'c', 'd', 'e'], '(ETIMEDOUT at a, b, c, d and 1 more)'],
])('addresses %j', (addresses, says) => {
  expect(connectWords('ETIMEDOUT', addresses)).toBe(`it took too long ${says}`)
})

test('a reset is no word about our certificate', () => {
  expect(isClientCertificateRefused('ECONNRESET')).toBe(false)
})

const PROXY = {
  origin: 'http://proxy.example:3128',
  authorization: new Secret('Basic planted'),
  secrets: [new Secret('planted')],
  from: 'https_proxy',
}

test('only a reading of an authority that nobody knows names --ca-file', () => {
  for (const code of [
    'CERT_NOT_YET_VALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  ])
    expect(connectWords(code)).not.toContain('--ca-file')
})

test('a proxy that wants a login and is given none', () => {
  const open = { ...PROXY, authorization: undefined }
  expect(proxyWords({ type: 'refused', status: 407, proxy: open })).toContain(
    'wants a user and a password (407); put them into https_proxy',
  )
})

test.each([
  [{ type: 'refused', status: 407 }, 'refused the user and the password (407); correct them in https_proxy'],
  [
    { type: 'refused', status: 403 },
    'refuses to connect to the host (403); allow the host in the proxy, or add it to NO_PROXY',
  ],
  [{ type: 'refused', status: 504 }, 'could not reach the host (504)'],
  [{ type: 'silent', afterMs: 10_000 }, 'did not connect to the host within 10s'],
  [
    { type: 'cut', code: 'HTTPParserError' },
    'does not answer like a proxy (HTTPParserError); check scheme and port in https_proxy',
  ],
  [{ type: 'cut', code: 'ECONNRESET' }, 'closed the connection before it reached the host (ECONNRESET)'],
  [
    { type: 'unreachable', code: 'ENOTFOUND', addresses: [] },
    'could not be reached (https_proxy): the name of the host does not resolve (ENOTFOUND)',
  ],
  [
    { type: 'unreachable', code: 'ECONNREFUSED', addresses: ['::1', '127.0.0.1'] },
    'could not be reached (https_proxy): it was refused (ECONNREFUSED at ::1, 127.0.0.1)',
  ],
] as const)('%j', (fault, says) => {
  expect(proxyWords({ ...fault, proxy: PROXY })).toBe(`the proxy http://proxy.example:3128 ${says}`)
})
