import { describeLaneNumbering, observeRecorder } from '../contracts/laneNumberingContract.js'
import { createMemoryLanes } from '../support/memoryLanes.js'

describeLaneNumbering('the in-memory lanes', async () => {
  const lanes = createMemoryLanes()
  return {
    lanes,
    openRecorder: async () => observeRecorder(lanes.openRecorder()),
    close: async () => undefined,
  }
})
