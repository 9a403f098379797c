/** Runs a task again and again, never twice at a time; asks that come while it runs become one more run. */
export interface Serial {
  /** @returns when a run that began after this call has ended */
  run(): Promise<void>
  /** Waits for the run in progress; asks from now on do nothing. */
  stop(): Promise<void>
}

/** @param task must not reject: whoever gives it turns failures into events */
export function createSerial(task: () => Promise<void>): Serial {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined
  let stopped = false

  function start(): Promise<void> {
    if (stopped) return Promise.resolve()
    current = task().finally(() => {
      current = undefined
    })
    return current
  }

  return {
    run() {
      if (stopped) return Promise.resolve()
      if (current === undefined) return start()
      next ??= current.then(() => {
        next = undefined
        return start()
      })
      return next
    },
    async stop() {
      stopped = true
      await current
    },
  }
}
