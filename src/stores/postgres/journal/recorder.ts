import type { Pool } from 'pg'
import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Instance } from '../database/instance.js'
import { storeBroadcast } from './storeBroadcast.js'

/** What a recorder writes with. */
export interface RecorderDependencies {
  readonly pool: Pool
  readonly instance: Instance
}

/** Records what one settlement is about to send. */
export const createRecorder = ({ pool, instance }: RecorderDependencies, settlementId: string): Recorder => ({
  settlementId,
  record: async (signed, write) => {
    if (write !== undefined) return await write()
    const broadcast = { signed, place: null, settlementIds: [settlementId] }
    const held = await storeBroadcast(pool, instance, broadcast)
    if (held.length === 0) throw new Error('The settlement was taken over: nothing may be sent for it')
  },
})
