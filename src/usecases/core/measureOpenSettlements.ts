import type { OpenCount, SettlementOverview } from '../../ports/settlementOverview.js'

export const createMeasureOpenSettlements =
  (overview: SettlementOverview, report: (counts: readonly OpenCount[]) => void) => async (): Promise<void> =>
    report(await overview.countOpen())
