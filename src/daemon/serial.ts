/** Never runs `task` twice at a time. Calls during a run share the next run. @param task must not reject */
export function createSerial(task: () => Promise<void>) {
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
    /** Resolves after a run that began after this call. */
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
