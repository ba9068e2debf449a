module kubexm.test/images

go 1.24.0
