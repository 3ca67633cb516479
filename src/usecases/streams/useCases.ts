import type { QuotaClaim } from '../../ports/quotas.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type {
  CloseStreamBody,
  OpenStreamBody,
  StreamAnswer,
  StreamOpened,
  StreamPage,
  StreamState,
  StreamUpdated,
  UpdateStreamBody,
} from '../../protocol/streams.js'

/** Who asks: an account, or the holder of the token of a stream that was opened without a key. */
export interface StreamActor {
  /** Account id, or `anonymous`. */
  readonly caller: string
  readonly token: string | null
}

export interface OpenStreamRequest {
  readonly body: OpenStreamBody
  readonly caller: string
  /** As in `VerifyOptions`. */
  readonly requester?: Requester
  readonly quota: QuotaClaim | null
  /** False once the client disconnected. */
  readonly isAwaited: () => boolean
}

interface OpenedStreamResponse {
  readonly answer: StreamOpened
  /** False: the same request opened it before. */
  readonly isNew: boolean
}

interface ListStreamsQuery {
  readonly status?: StreamState | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Streams of others do not exist: NOT_FOUND. The states and their errors: docs/streams.md. */
export interface StreamUseCases {
  /** Throws PAYMENT_REFUSED with its reason, QUOTA_EXCEEDED and INVALID_REQUEST. */
  openStream(request: OpenStreamRequest): Promise<OpenedStreamResponse>
  updateStream(actor: StreamActor, update: UpdateStreamBody): Promise<StreamUpdated>
  /** Waits for the outcome of the settlement; `closing` if it is not known in time. */
  closeStream(actor: StreamActor, close: CloseStreamBody): Promise<StreamAnswer>
  pauseStream(actor: StreamActor, id: string): Promise<StreamAnswer>
  resumeStream(actor: StreamActor, id: string): Promise<StreamAnswer>
  getStream(actor: StreamActor, id: string): Promise<StreamUpdated>
  /** Lists those of an account, newest first. */
  listStreams(caller: string, query: ListStreamsQuery): Promise<StreamPage>
}
