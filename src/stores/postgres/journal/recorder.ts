import type { Pool } from 'pg'
import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Instance } from '../database/instance.js'
import { storeBroadcast } from './storeBroadcast.js'

export interface RecorderDependencies {
  readonly pool: Pool
  readonly instance: Instance
}

export const createRecorder = ({ pool, instance }: RecorderDependencies, settlementId: string): Recorder => ({
  settlementId,
  record: async (signed, write) => {
    if (write !== undefined) return await write()
    const broadcast = { signed, position: null, settlementIds: [settlementId] }
    const held = await storeBroadcast(pool, instance, broadcast)
    if (held.length === 0)
      throw new Error('The settlement was taken over by another instance: nothing is sent')
  },
})
