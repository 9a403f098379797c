import { formatDuration } from './duration.ts'
import type { ProxyAddress, ProxyFault } from './proxy.ts'

const MAX_ADDRESSES = 4

/** Uses the error's code and addresses, because the error's text can repeat the request. */
export function connectWords(code: string, addresses: readonly string[] = []): string {
  if (addresses.length < 2) return `${whyNot(code)} (${code})`
  const others = addresses.length - MAX_ADDRESSES
  const named = addresses.slice(0, MAX_ADDRESSES).join(', ')
  return `${whyNot(code)} (${code} at ${named}${others > 0 ? ` and ${others} more` : ''})`
}

function whyNot(code: string): string {
  if (code === 'ECONNREFUSED') return 'it was refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name of the host does not resolve'
  if (code === 'ETIMEOUT') return 'the name of the host was not resolved in time'
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'it took too long'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another host'
  if (code === 'CERT_HAS_EXPIRED')
    return 'its certificate, or the certificate of an authority above it, has expired'
  if (code === 'CERT_NOT_YET_VALID')
    return 'its certificate is not valid yet; check the clock of this machine'
  if (code === 'TlsFileError') return 'TLS files cannot be used; check --ca-file and --client-cert-file'
  if (isClientCertificateRefused(code)) return 'it wants another client certificate; check --client-cert-file'
  if (AUTHORITY_UNKNOWN.test(code)) {
    return 'TLS failed; add the authority that signed its certificate to --ca-file (PIPEWRIGHT_CA_FILE)'
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(code))
    return 'the server does not speak TLS; check scheme and port'
  if (/ALERT_HANDSHAKE_FAILURE/.test(code))
    return 'it refused TLS. It might need a client certificate (--client-cert-file), or another version of TLS'
  if (isTlsFailure(code)) return 'TLS failed'
  return 'it could not be made'
}

const AUTHORITY_UNKNOWN =
  /GET_ISSUER|VERIFY_LEAF|SELF_SIGNED|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE|INVALID_CA/

export function isTlsFailure(code: string): boolean {
  return /TLS|SSL|CERT|SIGNED|SIGNATURE|EPROTO/.test(code)
}

export function isClientCertificateRefused(code: string): boolean {
  return /^ERR_SSL_.*ALERT_(?:\w*CERTIFICATE|UNKNOWN_CA)/.test(code)
}

export function proxyWords(fault: ProxyFault): string {
  const { origin, from } = fault.proxy
  const proxy = `the proxy ${origin}`
  switch (fault.type) {
    case 'unreachable':
      return `${proxy} could not be reached (${from}): ${connectWords(fault.code, fault.addresses)}`
    case 'cut':
      return /^(?:HTTPParserError$|HPE_)/.test(fault.code)
        ? `${proxy} does not answer like a proxy (${fault.code}); check scheme and port in ${from}`
        : `${proxy} closed the connection before it reached the host (${fault.code})`
    case 'silent':
      return `${proxy} did not connect to the host within ${formatDuration(fault.afterMs)}`
    case 'refused':
      return `${proxy} ${refusalWords(fault.status, fault.proxy)}`
  }
}

function refusalWords(status: number, { authorization, from }: ProxyAddress): string {
  if (status === 407) {
    return authorization === undefined
      ? `wants a user and a password (407); put them into ${from}`
      : `refused the user and the password (407); correct them in ${from}`
  }
  if (status >= 500) return `could not reach the host (${status})`
  return `refuses to connect to the host (${status}); allow the host in the proxy, or add it to NO_PROXY`
}
