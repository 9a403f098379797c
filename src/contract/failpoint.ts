/**
 * Places around a create at which tests make the real process fail, in the order in which they are reached.
 *
 * | failpoint        | what has happened                                                            |
 * |------------------|------------------------------------------------------------------------------|
 * | before-intent    | it was decided, and a place in the budget is taken                           |
 * | after-intent     | the intent is durable                                                        |
 * | after-fence      | this process may act, at some moment after the intent was durable              |
 * | after-connect    | the connection is ready, and no byte of the request is written               |
 * | after-request    | the request is written, to its end                                           |
 * | after-reply-head | status and headers of the reply came                                         |
 * | after-reply-body | the reply came, to its end                                                   |
 * | before-id        | the reply is understood, and its id is not durable; only when there is an id |
 * | after-id         | the id is durable                                                            |
 * | before-outcome   | the outcome is durable, if it can be, and not told                           |
 * | after-outcome    | the outcome is told                                                          |
 */
export const CREATE_FAILPOINTS = [
  'before-intent',
  'after-intent',
  'after-fence',
  'after-connect',
  'after-request',
  'after-reply-head',
  'after-reply-body',
  'before-id',
  'after-id',
  'before-outcome',
  'after-outcome',
] as const

export type CreateFailpoint = (typeof CREATE_FAILPOINTS)[number]

/**
 * The same around a change of what exists.
 *
 * | failpoint     | what has happened                                                                    |
 * |---------------|--------------------------------------------------------------------------------------|
 * | before-mark   | it was decided, and nothing is written; a change that needs a stop comes by twice    |
 * | after-mark    | what is about to be done is durable: that it is stopped for a change, or the change  |
 * | before-stop   | a stop is about to be sent                                                           |
 * | after-stop    | the stop was answered                                                                |
 * | before-change | the change is about to be sent                                                       |
 * | after-change  | the change was answered, and that is not durable                                     |
 * | before-start  | a start is about to be sent                                                          |
 * | after-start   | the start was answered                                                               |
 */
export const CHANGE_FAILPOINTS = [
  'before-mark',
  'after-mark',
  'before-stop',
  'after-stop',
  'before-change',
  'after-change',
  'before-start',
  'after-start',
] as const

export type ChangeFailpoint = (typeof CHANGE_FAILPOINTS)[number]

/**
 * The same around a deletion.
 *
 * | failpoint     | what has happened                                                     |
 * |---------------|-----------------------------------------------------------------------|
 * | before-delete | that it is about to be sent is durable                                |
 * | after-delete  | the request to delete it was answered, and that is not durable        |
 */
export const DELETE_FAILPOINTS = ['before-delete', 'after-delete'] as const

export type DeleteFailpoint = (typeof DELETE_FAILPOINTS)[number]

export const FAILPOINTS = [...CREATE_FAILPOINTS, ...CHANGE_FAILPOINTS, ...DELETE_FAILPOINTS] as const

export type Failpoint = (typeof FAILPOINTS)[number]

/** Called at each failpoint; what it throws is thrown there. Left out, nothing happens at any of them. */
export type Fail = (at: Failpoint) => Promise<void>

/** The variable that asks for one; for tests, and so in no list of settings. */
export const FAILPOINT_VARIABLE = 'PIPEWRIGHT_FAILPOINT'
