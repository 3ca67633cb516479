import type { Logger } from '../../ports/logger.js'
import type { Reservations } from '../../ports/reservations.js'
import type { Stream } from '../../ports/streamStore.js'

/** Gives the payer's funds back. Never throws: a hold that stays ends by itself. */
export type ReleaseHold = (stream: Pick<Stream, 'id' | 'authorizationId'>) => Promise<void>

export const createReleaseHold =
  (reservations: Pick<Reservations, 'release'>, logger: Logger): ReleaseHold =>
  async ({ id, authorizationId }) => {
    try {
      await reservations.release({ authorizationId, holder: holderOf(id) })
    } catch (error) {
      logger.warn({ streamId: id, error }, 'stream.release_failed')
    }
  }

/** Names a stream as holder of its payer's funds, and as the party that its settlement answers. */
export const holderOf = (id: string): string => `stream:${id}`
