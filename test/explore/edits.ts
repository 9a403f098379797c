import type { Mounted } from '../support/mounted-secrets.ts'
import { keyOfWish, type Model, type Wish } from './model.ts'
import { edited } from './life.ts'
import { tell, type Run, type Step } from './run.ts'
import type { EditKind, World } from './worlds.ts'
import { OTHER_SERVICE_ID, SERVICE_ID } from '../support/manifests.ts'

/** A pipe that somebody made in the console, which a Lock may name. */
const STRAY_ID = '00000000-0000-4000-8000-000000000099'

/** The password before and after it is rotated. */
const USUAL: Pick<Mounted, 'old' | 'new'> = { old: 'old', new: 'new' }

/** What may change in Git, and in the mounted secrets. Pipewright reads it at once. */
export function editsOf(model: Model, { edits, profile, mounted }: World): readonly Step[] {
  const passwords = mounted ?? USUAL
  const steps: Step[] = []
  const add = (name: string, cost: number, line: string, change: (model: Model) => void): void => {
    const play = (run: Run): void => {
      tell(run, line)
      change(run.model)
      edited(run.model)
    }
    steps.push({ name, cost, kind: 'edit', play })
  }
  const may = (kind: EditKind) => edits.includes(kind)
  for (const [index, wish] of model.wishes.entries()) {
    const key = keyOfWish(wish)
    const change = (to: Partial<Wish>) => (m: Model) => {
      const changed = m.wishes[index]
      if (changed !== undefined) Object.assign(changed, to)
    }
    const { isPresent, isSuspended, topics, isFlawed = false, dependsOn, policy } = wish
    if (!isPresent)
      add(`bring back ${key}`, 0, `The manifest of ${key} comes back.`, change({ isPresent: true }))
    else {
      if (may('remove'))
        add(`remove ${key}`, 1, `The manifest of ${key} is removed.`, (m) => {
          change({ isPresent: false })(m)
          delete m.wishes[index]?.isKnown
        })
      if (may('suspend')) {
        const line = `The manifest of ${key} ${isSuspended ? 'is no longer suspended' : 'is suspended'}.`
        add(`suspend ${key}`, isSuspended ? 0 : 1, line, change({ isSuspended: !isSuspended }))
      }
      if (may('topics') && !(profile !== undefined && isFlawed)) {
        const other = topics.endsWith('-2') ? topics.slice(0, -2) : `${topics}-2`
        add(
          `topics ${key}`,
          1,
          `The manifest of ${key} asks for topics "${other}" now.`,
          change({ topics: other }),
        )
      }
      if (may('rename')) rename(`${wish.name}x`, wish.platformName ?? wish.name, index)
      if (may('rename with its name')) rename(`${wish.name}y`, undefined, index)
      if (may('lock') && model.lock[key] === undefined)
        add(`lock ${key}`, 1, `A Lock says that ${key} is pipe 99.`, (m) => {
          m.lock[key] = STRAY_ID
          m.saidPipe.add(STRAY_ID)
        })
      if (may('manifest')) {
        const line = `The manifest of ${key} ${isFlawed ? 'is mended' : 'gets an error'}.`
        // Elsewhere what it said before is not remembered.
        const isKnown = profile !== undefined && !isFlawed
        add(
          `manifest ${key}`,
          isFlawed ? 0 : 1,
          line,
          change({ isFlawed: !isFlawed, ...(isKnown && { isKnown }) }),
        )
      }
      // Only on one before it, so that there is no circle.
      const first = index === 0 ? undefined : model.wishes[0]
      if (may('depends') && first !== undefined) {
        const on = dependsOn === undefined ? keyOfWish(first) : undefined
        add(`depends ${key}`, 1, `${key} depends on ${on ?? 'nothing'} now.`, change({ dependsOn: on }))
      }
      if (may('on missing')) {
        const { onMissing = 'recreate', ...others } = policy
        const says = onMissing === 'recreate' ? 'report' : 'recreate'
        const line = `policy.onMissing of ${key} is ${says} now.`
        add(`on missing ${key}`, 1, line, change({ policy: { ...others, onMissing: says } }))
      }
      if (may('copy') && model.wishes.length < 3) copy(wish)
    }
  }
  const all = Object.fromEntries(
    [...model.records.values()].flatMap(({ key, remote: pipe }) =>
      pipe === undefined ? [] : [[key, pipe.id]],
    ),
  )
  const isWhole = model.pipes.every(({ id }) => Object.values(all).includes(id))
  if (may('lock of all') && isWhole && JSON.stringify(model.lock) !== JSON.stringify(all))
    add('lock of all', 0, 'What "pipewright lock" prints is committed.', (m) => {
      Object.assign(m, { lock: all, isLockBroken: false })
      for (const id of Object.values(all)) m.saidPipe.add(id)
    })
  if (model.isLockBroken)
    add('mend the lock', 0, 'The file of the Lock is mended.', (m) => (m.isLockBroken = false))
  else if (may('break the lock') && Object.keys(model.lock).length > 0)
    add(
      'break the lock',
      0,
      'A merge leaves its marks in the file of the Lock.',
      (m) => (m.isLockBroken = true),
    )
  if (may('unmount')) {
    const isMounted = model.password !== undefined
    const line = isMounted ? 'The secret is not mounted any more.' : 'The secret is mounted.'
    add('unmount', isMounted ? 1 : 0, line, (m) => (m.password = isMounted ? undefined : passwords.old))
  }
  if (may('service'))
    add('service', 1, 'The serviceId in the Service manifest is corrected.', (m) => {
      const { one } = m.services
      m.services['one'] = one === SERVICE_ID ? OTHER_SERVICE_ID : SERVICE_ID
    })
  if (may('flaw')) {
    if (model.isServiceFlawed)
      add('mend', 0, 'The Service manifest is mended.', (m) => {
        m.isServiceFlawed = false
        m.memory = { ...m.memory, knowsServices: true }
      })
    else add('flaw', 1, 'The Service manifest gets an error.', (m) => (m.isServiceFlawed = true))
  }
  if (may('password'))
    add(
      'password',
      1,
      'The mounted password is rotated.',
      (m) => (m.password = m.password === passwords.old ? passwords.new : passwords.old),
    )
  const { endpoint } = model
  if (endpoint !== undefined) {
    const change = (to: Partial<typeof endpoint>) => (m: Model) => Object.assign(m.endpoint ?? {}, to)
    const { isPresent, isSuspended, origins } = endpoint
    const other = origins === '*' ? 'https://app.example' : '*'
    if (may('origins'))
      add('origins', 1, `The endpoint asks for allowedOrigins "${other}" now.`, change({ origins: other }))
    if (may('endpoint') && isPresent)
      add('remove endpoint', 1, 'The endpoint is removed from Git.', change({ isPresent: false }))
    if (!isPresent)
      add('bring back endpoint', 0, 'The endpoint comes back to Git.', change({ isPresent: true }))
    if (may('endpoint') && isPresent) {
      const line = isSuspended ? 'The endpoint is no longer suspended.' : 'The endpoint is suspended.'
      add('suspend endpoint', isSuspended ? 0 : 1, line, change({ isSuspended: !isSuspended }))
    }
  }
  return steps

  function rename(name: string, platformName: string | undefined, index: number): void {
    const wish = model.wishes[index]
    // Names do not grow for ever.
    if (wish === undefined || name.length > 3 || model.wishes.some((other) => other.name === name)) return
    const how = platformName === undefined ? 'and so is its spec.name' : 'its spec.name stays'
    add(
      `rename ${keyOfWish(wish)} ${name}`,
      1,
      `Pipe/${wish.name} is renamed to Pipe/${name} in Git, ${how}.`,
      (m) => {
        const renamed = m.wishes[index]
        if (renamed !== undefined) Object.assign(renamed, { name, platformName })
      },
    )
  }

  function copy(wish: Wish): void {
    const name = `${wish.name}c`
    if (model.wishes.some((other) => other.name === name)) return
    const platformName = wish.platformName ?? wish.name
    const policy = { replaces: keyOfWish(wish) }
    add(
      `copy ${name}`,
      1,
      `Pipe/${name} is written, a copy of Pipe/${wish.name}, with policy.replaces.`,
      (m) => m.wishes.push({ ...wish, name, platformName, policy }),
    )
  }
}
