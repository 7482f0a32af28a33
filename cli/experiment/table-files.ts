// The measurements as files for other programs: CSV, and Parquet of the same columns.
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { Results } from '../../experiment/report/data.ts';
import { COLUMNS, type Column, csvText, type TableRow, tableRows } from '../../experiment/report/table.ts';

export const csvBytes = (results: Results): Uint8Array => new TextEncoder().encode(csvText(results));

/** Equal results give equal bytes. */
export function parquetBytes(results: Results): Uint8Array {
  const rows = [...tableRows(results)];
  const data = (name: Column, type: (typeof COLUMNS)[Column]): unknown[] =>
    rows.map((row: TableRow) => (type === 'number' ? BigInt(row[name]) : String(row[name])));
  const columnData = Object.entries(COLUMNS).map(([name, type]) => ({
    name,
    type: type === 'number' ? ('INT64' as const) : ('STRING' as const),
    data: data(name as Column, type) as never,
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData, createdBy: 'kcovbox' }));
}
