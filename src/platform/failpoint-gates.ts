import type { buildConnector, Dispatcher } from 'undici'
import type { Fail } from '../contract/failpoint.ts'

/*
 * The failpoints within an exchange, between the client and whoever listens to it. Only put there when a test asks.
 * What a failpoint throws ends the exchange as an error of the connection at that moment does.
 */

/** `after-connect`: the connection is ready, and the client does not know of it yet. */
export function gatedConnect(connect: buildConnector.connector, fail: Fail): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...result) => {
      const [error, socket] = result
      if (error !== null) {
        callback(error, null)
        return
      }
      void passOn(socket)

      async function passOn(ready: NonNullable<typeof socket>): Promise<void> {
        try {
          await fail('after-connect')
        } catch (thrown) {
          ready.destroy()
          callback(errorOf(thrown), null)
          return
        }
        callback(null, ready)
      }
    })
  }
}

/** `after-request`, `after-reply-head` and `after-reply-body`. */
export function gatedDispatcher(dispatcher: Dispatcher, fail: Fail): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) => dispatch(options, gatedHandler(handler, fail)),
  )
}

function gatedHandler(handler: Dispatcher.DispatchHandler, fail: Fail): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined
  return {
    onRequestStart(started, context) {
      controller = started
      handler.onRequestStart?.(started, context)
    },
    onRequestSent() {
      fail('after-request').catch((error: unknown) => controller?.abort(errorOf(error)))
    },
    onResponseStart(of, ...head) {
      handler.onResponseStart?.(of, ...head)
      // Nothing of the body is read meanwhile.
      of.pause()
      fail('after-reply-head').then(
        () => of.resume(),
        (error: unknown) => of.abort(errorOf(error)),
      )
    },
    onResponseData: (of, chunk) => handler.onResponseData?.(of, chunk),
    onResponseEnd(of, trailers) {
      fail('after-reply-body').then(
        () => handler.onResponseEnd?.(of, trailers),
        (error: unknown) => handler.onResponseError?.(of, errorOf(error)),
      )
    },
    onResponseError: (of, error) => handler.onResponseError?.(of, error),
  }
}

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('a failpoint threw no error', { cause: thrown })
}
