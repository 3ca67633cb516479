import { AppError } from '../../errors.js'
import type {
  DecideStream,
  Stream,
  StreamDecision,
  StreamRefusal,
  StreamStore,
} from '../../ports/streamStore.js'
import { hasDigest } from '../controlToken.js'
import { decide, type StreamCommand } from './decide.js'
import type { StreamActor } from './useCases.js'

const controls = ({ caller, token }: StreamActor, stream: Stream): boolean => {
  if (stream.controlDigest === null) return stream.caller === caller
  return hasDigest(token, stream.controlDigest)
}

const notFound: StreamRefusal = { code: 'NOT_FOUND', message: 'Stream not found' }

/** The same answer for unknown streams and those of others, so that existence does not leak. */
export const decideFor =
  (actor: StreamActor, command: StreamCommand, now: Date): DecideStream =>
  (stream) =>
    stream === null || !controls(actor, stream)
      ? { state: 'refused', refusal: notFound }
      : decide(stream, command, now)

/** Decides for the service itself. */
export const decideHere =
  (command: StreamCommand, now: Date): DecideStream =>
  (stream) =>
    stream === null ? { state: 'refused', refusal: notFound } : decide(stream, command, now)

/** Throws what was refused. */
export const getDecided = (decision: StreamDecision): Stream => {
  if (decision.state !== 'refused') return decision.stream
  throw new AppError(decision.refusal.code, decision.refusal.message)
}

/** Throws NOT_FOUND. */
export const getOwnStream = async (
  store: Pick<StreamStore, 'find'>,
  actor: StreamActor,
  id: string,
): Promise<Stream> => {
  const found = await store.find(id)
  if (found === null || !controls(actor, found)) throw new AppError(notFound.code, notFound.message)
  return found
}
