select 1 --2;
+ 3; select 1 @-- ;
2; select 1 @/* ; */ 2; select 1 =-1; select a->>'b;', c#>>'{;}', d?|e, f::g, h[1:2];
