import { systemClock } from '../../../src/daemon/system-clock.ts'
import { runHere } from '../../support/command.ts'
import { type FrontOptions, startFront } from '../../support/front.ts'
import { platformArgs } from '../../support/manifests.ts'
import { startPlatform } from '../../support/platform.ts'
import { startProgram } from '../../support/process.ts'
import { createScenario } from '../scenario.ts'

/** A scenario whose platform is behind a door of the test. */
export type Story = Awaited<ReturnType<typeof createStory>>

export async function createStory(options: FrontOptions = {}) {
  await using stack = new AsyncDisposableStack()
  const platform = stack.use(await startFront(await startPlatform(), options))
  const scenario = stack.use(await createScenario(platform))
  const kept = stack.move()
  const args = platformArgs(scenario.workspace, platform.url)
  const id = (name: string) => {
    const [pipe, ...more] = platform.pipes().filter((one) => one.name === name)
    if (pipe === undefined || more.length > 0) throw new Error(`there are ${more.length + 1} pipes ${name}`)
    return pipe.id
  }
  return {
    ...scenario,
    platform,
    /** Starts `apply`; it is killed with the story. */
    apply: (more: readonly string[] = []) => kept.use(startProgram(['apply', ...args, ...more])),
    /** Runs another command to its end, with a wall clock that is so far ahead. */
    runAhead(command: readonly string[], aheadMs: number) {
      const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
      return runHere([...command, ...args], {}, { clock })
    },
    /** Creates of the pipe with this name; of all, unless given. */
    posts: (name?: string) =>
      platform.requests().filter(({ operation, body }) => operation === 'createPipe' && isNamed(body, name)),
    /** Reads of the pipe with this name. */
    gets(name: string) {
      const path = `/${id(name)}`
      return platform
        .requests()
        .filter((one) => one.operation === 'getPipe' && one.path.toLowerCase().endsWith(path))
    },
    /** The id of the one pipe with this name. @throws when there is none, or another one */
    id,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function isNamed(body: unknown, name: string | undefined): boolean {
  return name === undefined || (body as { readonly name: string }).name === name // the sandbox keeps it as it came
}
