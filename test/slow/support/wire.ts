import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/*
 * A network of its own for one program, and a wire to it that can be cut: a namespace with two links to the machine. Over
 * one the program reaches the platform; over the other, which stays, a test reaches the program. It takes root.
 */

let count = 0

/** Removes what processes left behind that were killed before their end. */
function removeStale(): void {
  const list = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })
  for (const [name, pid] of list.matchAll(/^pw-(\d+)-\d+/gm)) {
    if (!existsSync(`/proc/${pid}`)) ip('netns', 'delete', name)
  }
}

export function createWire() {
  removeStale()
  count += 1
  const id = `${process.pid}-${count}`
  const name = `pw-${id}`
  const wire = `pwa${id}`
  const desk = `pwb${id}`
  const net = `10.${200 + (process.pid % 50)}.${count % 250}`
  const through = ['ip', 'netns', 'exec', name]
  ip('netns', 'add', name)
  try {
    for (const [link, own, other] of [
      [wire, 1, 2],
      [desk, 5, 6],
    ] as const) {
      const peer = ['peer', 'name', `to-${own}`, 'address', macOf(other), 'netns', name]
      ip('link', 'add', link, 'address', macOf(own), 'type', 'veth', ...peer)
      ip('address', 'add', `${net}.${own}/30`, 'dev', link)
      inside('address', 'add', `${net}.${other}/30`, 'dev', `to-${own}`)
      ip('link', 'set', link, 'up')
      inside('link', 'set', `to-${own}`, 'up')
      // Known for good: a packet that waits for the address of the other end would go out after the cut, whatever
      // became of its socket. Only time helps against that one.
      inside(
        'neighbour',
        'add',
        `${net}.${own}`,
        'lladdr',
        macOf(own),
        'dev',
        `to-${own}`,
        'nud',
        'permanent',
      )
    }
    inside('link', 'set', 'lo', 'up')
  } catch (error) {
    ip('netns', 'delete', name)
    throw error
  }

  function inside(...args: readonly string[]): void {
    ip('-n', name, ...args)
  }

  return {
    /** Address of the machine on the wire: where a platform listens. */
    host: `${net}.1`,
    /** Address of the program on the other link: where it listens. */
    inside: `${net}.6`,
    /** What to put before a command, so that it runs in the namespace. */
    through,
    cut: () => ip('link', 'set', wire, 'down'),
    mend: () => ip('link', 'set', wire, 'up'),
    /** The sockets of the namespace with this port of their own that may still send something. */
    sending(localPort: number) {
      const text = execFileSync('ip', [...through.slice(1), 'ss', '-tanH', 'sport', '=', `:${localPort}`], {
        encoding: 'utf8',
      })
      return text.split('\n').filter((line) => line !== '' && !/^(TIME-WAIT|FIN-WAIT-2)/.test(line))
    },
    // The links go with the namespace that holds their other ends.
    [Symbol.dispose]: () => ip('netns', 'delete', name),
  }
}

export function mayWire(): boolean {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return false
  try {
    using _ = createWire()
    return true
  } catch {
    return false
  }
}

function macOf(own: number): string {
  return `02:00:00:00:00:0${own}`
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: 'ignore' })
}
