/**
 * The tables and rows of the sample account's project `shop`. They are written when the data of a branch is created, so a
 * service that has just started has nothing to write. The branches differ as if two migrations had been made.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import type { SampleBranches, SampleData } from '../../core/computeEngine.ts';
import { readPrivateJson, writePrivateFile } from '../storage/privateFiles.ts';
import { BRANCH_ROLE } from '../roles/logins.ts';

const BranchesFile = z.record(z.string(), z.enum(['beforeMigration', 'main', 'checkoutRewrite']));

const sampleFile = (root: string): string => path.join(root, 'sample.json');

/**
 * Notes which branches of a new account get which sample data when their data is created. Older data directories have no such note,
 * so their branches stay empty.
 */
export const noteSampleBranches = (root: string, branches: SampleBranches): void =>
  writePrivateFile(sampleFile(root), JSON.stringify(branches));

/** Returns the statements for the data of a branch, each on one line; none if it isn't one of the sample. */
export function sampleStatements(root: string, branchId: string): readonly string[] {
  const file = sampleFile(root);
  if (!existsSync(file)) return [];
  const data = readPrivateJson(file, BranchesFile, 'delete it')[branchId];
  return data === undefined ? [] : sampleSql(data);
}

function sampleSql(data: SampleData): readonly string[] {
  const parts = {
    beforeMigration: [SHOP],
    main: [SHOP, CATEGORIES],
    checkoutRewrite: [SHOP, CATEGORIES, CHECKOUT_REWRITE],
  };
  const statements = parts[data].join('').split(';');
  const lines = statements.map((statement) => statement.trim().replace(/\s+/g, ' '));
  // The statements run as the owner, not as the superuser.
  return [
    `SET SESSION AUTHORIZATION ${BRANCH_ROLE}`,
    'SET search_path = public',
    ...lines.filter((line) => line !== ''),
  ];
}

const SHOP = `
CREATE TABLE customers (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  email text NOT NULL UNIQUE,
  city text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE TABLE products (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  price numeric(8, 2) NOT NULL CHECK (price > 0),
  stock integer NOT NULL DEFAULT 0
);
CREATE TABLE orders (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer_id integer NOT NULL REFERENCES customers,
  status text NOT NULL CHECK (status IN ('open', 'paid', 'shipped', 'cancelled')),
  ordered_at timestamptz NOT NULL
);
CREATE INDEX orders_customer_id_idx ON orders (customer_id);
CREATE TABLE order_items (
  order_id integer REFERENCES orders ON DELETE CASCADE,
  product_id integer REFERENCES products,
  quantity integer NOT NULL CHECK (quantity > 0),
  unit_price numeric(8, 2) NOT NULL,
  PRIMARY KEY (order_id, product_id)
);
INSERT INTO customers (name, email, city, created_at)
  SELECT first || ' ' || last, lower(first || '.' || last) || '@example.com',
    (ARRAY['Oslo', 'Lisbon', 'Toronto', 'Kyoto', 'Nairobi'])[1 + n % 5],
    timestamptz '2026-01-05 09:00Z' + n * interval '31 hours'
  FROM generate_series(0, 39) AS n,
    LATERAL (SELECT (ARRAY['Ada', 'Noor', 'Mateo', 'Yuki', 'Ines', 'Kwame', 'Lena', 'Ravi'])[1 + n % 8] AS first,
      (ARRAY['Berg', 'Costa', 'Diaz', 'Okafor', 'Sato'])[1 + n / 8] AS last) AS names
  ORDER BY n;
INSERT INTO products (name, price, stock) VALUES
  ('Espresso cup', 9.50, 120), ('Teapot', 34.00, 25), ('French press', 29.90, 40), ('Coffee grinder', 89.00, 12),
  ('Desk lamp', 49.00, 30), ('Floor lamp', 119.00, 8), ('Wool blanket', 65.00, 22), ('Linen cushion', 24.50, 60),
  ('Notebook', 6.90, 300), ('Fountain pen', 38.00, 45), ('Pencil set', 12.40, 150), ('Wall calendar', 15.00, 0);
INSERT INTO orders (customer_id, status, ordered_at)
  SELECT 1 + n * 7 % 40, (ARRAY['shipped', 'paid', 'shipped', 'open', 'shipped', 'cancelled'])[1 + n % 6],
    timestamptz '2026-03-02 08:15Z' + n * interval '9 hours 40 minutes'
  FROM generate_series(0, 89) AS n ORDER BY n;
INSERT INTO order_items (order_id, product_id, quantity, unit_price)
  SELECT o.id, p.id, 1 + o.id % 3, p.price FROM orders o
  JOIN products p ON p.id IN (1 + o.id * 5 % 12, 1 + (o.id * 5 + o.id % 4) % 12)
  ORDER BY o.id, p.id;
`;

const CATEGORIES = `
ALTER TABLE products ADD COLUMN category text;
UPDATE products SET category = CASE WHEN id <= 4 THEN 'kitchen' WHEN id <= 8 THEN 'home' ELSE 'office' END;
CREATE INDEX orders_ordered_at_idx ON orders (ordered_at);
`;

const CHECKOUT_REWRITE = `
ALTER TABLE orders ADD COLUMN payment_method text NOT NULL DEFAULT 'card'
  CHECK (payment_method IN ('card', 'invoice', 'wallet'));
DROP INDEX orders_ordered_at_idx;
CREATE TABLE payments (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id integer NOT NULL REFERENCES orders ON DELETE CASCADE,
  amount numeric(8, 2) NOT NULL,
  paid_at timestamptz NOT NULL
);
INSERT INTO payments (order_id, amount, paid_at)
  SELECT o.id, sum(quantity * unit_price), min(ordered_at) + interval '3 minutes'
  FROM orders o JOIN order_items i ON i.order_id = o.id
  WHERE status IN ('paid', 'shipped') GROUP BY o.id ORDER BY o.id;
UPDATE orders SET payment_method = 'invoice' WHERE id % 10 = 4;
UPDATE products SET price = 94.00, stock = 9 WHERE id = 4;
DELETE FROM orders WHERE status = 'cancelled' AND id <= 12;
INSERT INTO orders (customer_id, status, ordered_at, payment_method) VALUES
  (3, 'open', '2026-04-08 10:00Z', 'wallet'), (17, 'open', '2026-04-08 11:30Z', 'card'),
  (28, 'paid', '2026-04-09 07:45Z', 'wallet');
`;
