import { REPEATED, STRANGE_SECRET } from './echoing-platform.ts'

/* Secrets that are planted for a test, and a search for them in whatever comes out. */

/** Each tells where it was planted; none looks like another, also not by its first half. */
export const PLANTED = {
  keyId: 'kid-9Qf2mVx7Lc0aRz',
  keySecret: 'ksec-T4uHn8Wd1PqYb6',
  unusedKeyId: 'ukid-Ks5rWb1Yt8NeHq',
  unusedKeySecret: 'usec-Vd0gZp6Lj3CxMo',
  leftKeyId: 'lkid-Fa7wTi2Ru9BsGn',
  leftKeySecret: 'lsec-Ye4kXc8Qh1PvUz',
  leftToken: 'ltok-Oj6dMr3Wg0SfAb',
  alertsToken: 'altk-Jg5sEo3Kx9MiVn',
  adminToken: 'admt-Zc7yBr2Ua4LfQw',
  signingKey: 'sign-Xe6pDk0Hv8NjTs',
  webhookPath: 'hook-Rm1wGz5Yc3SaOu',
  webhookQuery: 'qury-Fb8tKi2Eq7XlPd',
  kafkaPassword: 'kpwd-Uk3xQe7Tb0GfLa',
  kafkaUser: 'kusr-Dj5vSn1Mo8RyHi',
  kafkaCertificate: 'kcrt-Pz2cWl6Xg4BtEq',
  registryPassword: 'rpwd-Ya9fNu3Jd7KvOs',
  registryUser: 'rusr-Gm0rCx4Zi5QhTw',
  connectionString: 'conn-Lb7kVy1Ep2UoSj',
  accessKeyId: 'akid-Hn6dRf8Mg3WzXc',
  accessSecret: 'asec-Qt5iAu0Jl9YvKb',
  streamKeyId: 'stid-Ow2eGs7Nx4PmDz',
  streamSecret: 'stsc-Cf8yHk3Rj6TqVl',
  postgresUser: 'pusr-Bx1oZn5Uw9EaIg',
  postgresPassword: 'ppwd-Sd4mLt7Fc0XrYh',
  literalPassword: 'litp-Kv3jQo8Gb2NzWe',
  misspeltPassword: 'mspl-Ei9uDx6Ry1HtCa',
  brokenYaml: 'brok-Mz5sPl0Vf7KwJn',
  wrongShape: 'wrsh-Tg2qXb4Ou8IcYd',
  asName: 'asnm-Wr7aNe3Zj9LmFk',
  returnedConnection: 'rcon-Yq2sJw8Kb5DxVt',
  returnedUser: 'rtus-Fo7zMc3Ln1GvRe',
  signature: 'sasg-Nu5kTi0Pa9BhXw',
  accountKey: 'acky-Vd3rEm6Sy8QjCz',
  queryToken: 'qtok-Lx1fHp4Ow7UgKn',
  edgePassword: 'edge-Ib9tRz2Cq6MyJs',
  codedPassword: 'code+Gw/8aDv=5NkE&o3',
  newKeySecret: 'nsec-Hm8cQz3Vt6LdRw',
  pemLine: 'MIIpWk4tXs9QeLb2GfYh7JdNc5RvZa',
  settingsUrl: 'surl-Ap1hUv6Cs5BxQy',
} as const

/** Of a secret that is cut off, so much would be enough to be found. */
const SHORTEST = 12

/** The forms in which a secret could come out. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  return [
    secret.slice(0, SHORTEST),
    secret.slice(-SHORTEST),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    secret.slice(0, SHORTEST).toUpperCase(),
    secret.slice(-SHORTEST).toUpperCase(),
    secret.slice(0, SHORTEST).toLowerCase(),
    secret.slice(-SHORTEST).toLowerCase(),
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    JSON.stringify(secret).slice(1, -1),
    // inside of something longer that was encoded as a whole
    ...[1, 2].map((shift) =>
      Buffer.concat([Buffer.alloc(shift), bytes])
        .toString('base64')
        .slice(4, 4 + SHORTEST),
    ),
    bytes.toString('utf16le'),
  ]
}

const FORMS: readonly (readonly [string, string])[] = [
  ...[
    ...REPEATED.map(({ is, secret }) => [is, secret] as const),
    ['strange', STRANGE_SECRET] as const,
  ].flatMap(([is, secret]) =>
    [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)].map(
      (form) => [is, form] as const,
    ),
  ),
  ...Object.entries(PLANTED).flatMap(([name, secret]) =>
    formsOf(secret).map((form) => [name, form] as const),
  ),
  ...[`${PLANTED.keyId}:${PLANTED.keySecret}`, `${PLANTED.kafkaUser}:${PLANTED.kafkaPassword}`].map(
    (pair) => ['a pair', Buffer.from(pair).toString('base64').replace(/=+$/, '')] as const,
  ),
]

/** `keySecret in the log: …` for each secret that is found in a text. */
export function leaksIn(where: string, text: string): readonly string[] {
  return FORMS.flatMap(([name, form]) => {
    const at = text.indexOf(form)
    if (at < 0) return []
    return [`${name} in ${where}: …${text.slice(Math.max(0, at - 60), at + form.length + 20)}…`]
  })
}
